"""How erasing reaches every table.

A table that is not named here fails a test, and so does a new text in one that is kept.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Reach(StrEnum):
    """How rows of a table are found."""

    BY_RECORD = "by_record"
    """By trace id, app and day."""
    BY_TRACE = "by_trace"
    """By trace id alone: spans are of no app and day yet."""
    BY_COPY = "by_copy"
    """By trace id and app of what was copied; it has no day."""
    BY_CHECK = "by_check"
    """With the trace of the check set that it is a result of."""
    BY_BODY = "by_body"
    """By whom the stored body names."""
    BY_PLACE = "by_place"
    """The trace id in it is cut; the row stays."""
    BY_LIST = "by_list"
    """The trace is taken out of the list that it stands in; the row stays."""
    BY_MESSAGE = "by_message"
    """With the parked message of the same key."""
    KEPT = "kept"
    """It names no trace, user or session and holds nothing of what they said."""


class Holding(NamedTuple):
    """What a table holds of traces.

    Attributes:
        texts: of a table that is kept, every column that could hold a text, so that a new one is noticed.
        holds: in words, for the documentation.
    """

    reach: Reach
    holds: str
    texts: tuple[str, ...] = ()


HOLDINGS: dict[str, Holding] = {
    "trace": Holding(Reach.BY_RECORD, "ids of trace, session and user, metadata, unknown keys, tags"),
    "trace_text": Holding(Reach.BY_RECORD, "question, conversation, contexts, answer, reference"),
    "evaluation": Holding(Reach.BY_RECORD, "the trace id, states, what its calls cost"),
    "assessment": Holding(Reach.BY_RECORD, "the trace id, verdicts with their reasons"),
    "judge_reply": Holding(Reach.BY_RECORD, "the trace id, what the judge's provider answered"),
    "score": Holding(Reach.BY_RECORD, "the trace id, scores with reasons and details"),
    "span_buffer": Holding(Reach.BY_TRACE, "the trace id, spans with all their attributes"),
    "open_record": Holding(Reach.BY_TRACE, "the trace id, where its records are stored"),
    "check_set": Holding(Reach.BY_COPY, "copies of traces with their texts, ids of session and user"),
    "check_result": Holding(Reach.BY_CHECK, "verdicts and scores of these copies"),
    "parked_message": Holding(Reach.BY_BODY, "whole messages, whom they named"),
    "suspect": Holding(Reach.BY_MESSAGE, "the digest of a message"),
    "backfill_item": Holding(Reach.BY_RECORD, "the trace id, what an evaluation was before"),
    "backfill": Holding(Reach.BY_PLACE, "how far it has come: the id of the last trace it looked at"),
    "judge_state": Holding(
        Reach.KEPT,
        "names of judges and models, why a judge is paused",
        ("judge", "fingerprint", "answered_model", "pause_message"),
    ),
    "judge_spend": Holding(Reach.KEPT, "sums of calls, tokens and money", ("judge", "period")),
    "sample_rate": Holding(Reach.KEPT, "rates by app and judge", ("app", "judge", "cause")),
    "judge_epoch": Holding(
        Reach.KEPT, "which models have answered", ("judge", "fingerprint", "answered_model")
    ),
    "judge_answers": Holding(Reach.KEPT, "how often each model answered", ("answers",)),
    "label_budget": Holding(
        Reach.KEPT, "names of apps, environments and releases", ("label", "app", "environment", "value")
    ),
    "score_stream": Holding(
        Reach.KEPT,
        "names of scorers, judges, apps and environments",
        ("scorer", "version", "judge", "fingerprint", "app", "environment"),
    ),
    "score_block": Holding(Reach.KEPT, "how many traces of five minutes scored what", ("stratum",)),
    "extraction_block": Holding(
        Reach.KEPT,
        "how many traces of five minutes had a field found by which rule",
        ("app", "environment", "rules"),
    ),
    "dirty_mark": Holding(Reach.KEPT, "names of apps and environments, times", ("app", "environment")),
    "score_block_cursor": Holding(Reach.KEPT, "how far the counting of scores has come"),
    "block_change": Holding(Reach.KEPT, "which counts of scores are other than before"),
    "baseline": Holding(
        Reach.KEPT,
        "what scores were like while all was well, why a person chose it",
        ("kind", "fitted", "reason", "replaced_reason"),
    ),
    "monitor_state": Holding(Reach.KEPT, "evidence of falls of scores", ("level", "hold")),
    "stream_arming": Holding(
        Reach.KEPT, "how a changed scorer or judge gets its baseline", ("way", "outcome")
    ),
    "alert": Holding(Reach.BY_LIST, "the ids of its worst traces, and numbers of many"),
    "alert_notice": Holding(
        Reach.KEPT, "which notices of alerts were sent where", ("notice_id", "sink", "event")
    ),
    "scorer_version": Holding(Reach.KEPT, "which version of a scorer is shown", ("scorer", "version")),
    "user_key": Holding(Reach.KEPT, "keys by which users' ids become pseudonyms", ("id", "secret")),
    "tombstone": Holding(Reach.KEPT, "salted digests of what was erased", ("digest", "kind")),
    "tombstone_salt": Holding(Reach.KEPT, "the salt of these digests", ("salt",)),
}


WORDS = {
    Reach.BY_RECORD: "erased by trace id, app and day",
    Reach.BY_TRACE: "erased by trace id",
    Reach.BY_COPY: "erased by trace id and app",
    Reach.BY_CHECK: "erased with its copy",
    Reach.BY_BODY: "erased by whom the message names",
    Reach.BY_PLACE: "the trace id is cut, the row stays",
    Reach.BY_LIST: "the trace is taken out of the list, the row stays",
    Reach.BY_MESSAGE: "erased with its parked message",
    Reach.KEPT: "kept: it names no trace, user or session",
}
"""For the documentation."""


def list_reached(reach: Reach) -> tuple[str, ...]:
    """The tables that are reached in this way."""
    return tuple(name for name, holding in HOLDINGS.items() if holding.reach is reach)
