"""What each alert means, for who follows its link: a sentence, and the traces that show it."""

from __future__ import annotations

from typing import NamedTuple

from ragsonde_schemas.watched import Sign


class AlertMeaning(NamedTuple):
    """One alert.

    Attributes:
        title: what people read instead of the alert's name.
        meaning: one or two sentences.
        sign: which traces show it.
    """

    title: str
    meaning: str
    sign: Sign = Sign.NONE


ALERTS: dict[str, AlertMeaning] = {
    "RagsondeEmptyRetrieval": AlertMeaning(
        "Retrieval returns nothing more often",
        "More questions than usual came back from retrieval without any context: an index that lost "
        "documents, a filter that excludes all, or a retriever that fails silently.",
        Sign.EMPTY_RETRIEVAL,
    ),
    "RagsondeInsufficientUp": AlertMeaning(
        "Contexts lack the answer more often",
        "For more questions than usual the judge says that the retrieved contexts do not suffice to answer.",
        Sign.INSUFFICIENT,
    ),
    "RagsondeNoTraces": AlertMeaning(
        "No traces arrive",
        "Nothing came for a quarter of an hour at a time at which traces usually come: the application is "
        "down, or its way to the queue is.",
    ),
    "RagsondeNoContextShareUp": AlertMeaning(
        "Traces without contexts",
        "More traces than usual name no contexts at all, so their retrieval cannot be scored: the producer "
        "changed what it sends, or an extraction rule finds it no more.",
        Sign.NO_CONTEXT,
    ),
    "RagsondeExtractionChanged": AlertMeaning(
        "Fields are found by other rules",
        "A rule that finds a field of the traces is used much more or much less than a day ago: a library of "
        "the producer was updated, or a mapping changed. Scores before and after may not be comparable.",
        Sign.NO_CONTEXT,
    ),
    "RagsondeCoverageDrop": AlertMeaning(
        "Fewer traces are judged",
        "A smaller share of the traces than usual ends with a score.",
        Sign.LEFT_OUT,
    ),
    "RagsondeJudgeDown": AlertMeaning(
        "A judge does not answer",
        "Its circuit is open: evaluations wait in Postgres and are judged when it is back. Free scores go "
        "on.",
        Sign.LEFT_OUT,
    ),
    "RagsondeJudgePaused": AlertMeaning(
        "A judge is paused",
        "The provider refused for a reason that waiting does not mend: key, model or quota. It is tried "
        "again by itself.",
        Sign.LEFT_OUT,
    ),
    "RagsondeJudgeErrors": AlertMeaning(
        "A judge's replies cannot be used",
        "More of its replies than usual end as errors: cut off, refused, or not what was asked for.",
        Sign.FAILED,
    ),
    "RagsondeBudgetNearlySpent": AlertMeaning(
        "A judge's budget is nearly spent",
        "What the judge may spend in this period will not last: the rest of its traces is left out.",
        Sign.LEFT_OUT,
    ),
    "RagsondeJudgeMoved": AlertMeaning(
        "A judge gives other verdicts",
        "On the check set the judge's scores differ from those it gave before: the model behind it changed.",
    ),
    "RagsondeQueueGrowing": AlertMeaning("The queue grows", "Messages arrive faster than workers take them."),
    "RagsondeQueueOld": AlertMeaning(
        "Work waits for long",
        "What has been due for longest in Postgres, or what is on the queue, waits for longer than it "
        "should.",
    ),
    "RagsondeParked": AlertMeaning(
        "Messages are parked",
        "Messages came that could not be worked on. They are kept; `ragsonde parked list` says why.",
    ),
    "RagsondeDeadLetters": AlertMeaning(
        "The broker gave up on messages",
        "Messages were delivered many times without being finished; the broker moved them aside.",
    ),
    "RagsondeWorkerStalled": AlertMeaning(
        "Workers commit nothing",
        "The queue is not empty, and yet nothing was committed for some time: workers hang, or are gone.",
    ),
    "RagsondeDatabaseErrors": AlertMeaning(
        "Postgres is away", "Workers cannot reach Postgres: they keep what they have and take nothing more."
    ),
    "RagsondeConfigDiffers": AlertMeaning(
        "Processes run with different settings",
        "Processes of one deployment were started with different settings: scores depend on who takes a "
        "trace.",
    ),
    "RagsondeLedgerBroken": AlertMeaning(
        "The ledger does not add up",
        "An invariant of the stored rows is violated: `ragsonde ledger` names it and example traces.",
    ),
    "RagsondeMonitorStale": AlertMeaning(
        "The monitor does not work",
        "A job of the monitor has not succeeded for long: what is due is not swept, retention and rates "
        "stand still.",
    ),
}
"""By the alert's name, as in deploy/prometheus/rules."""
