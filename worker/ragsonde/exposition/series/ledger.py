"""Where every message and trace went."""

from __future__ import annotations

from ragsonde.exposition.closed_labels import (
    BACKFILL_ENDS,
    CLOSINGS,
    DUPLICATE_KINDS,
    FILTER_CAUSES,
    LATE_EFFECTS,
    MESSAGE_ENDS,
    REASONS,
    STATES,
)
from ragsonde.exposition.declaration import Declaration, Kind
from ragsonde.exposition.series.shapes import PAIR_LABELS, PLACE_LABELS

MESSAGES_RECEIVED = Declaration(
    name="messages_received_total",
    kind=Kind.COUNTER,
    help="Messages taken off the queue, by the format they were decoded as.",
    labels=("format",),
)
MESSAGES_SETTLED = Declaration(
    name="messages_settled_total",
    kind=Kind.COUNTER,
    help="Received messages that are done, by what became of them as a whole; parked also where the rest was "
    "accepted. Their sum is messages_received_total, but for those being worked on.",
    labels=("outcome",),
    born=MESSAGE_ENDS,
)
EVALUATIONS = Declaration(
    name="evaluations_total",
    kind=Kind.COUNTER,
    help="Evaluations that entered a state, as committed here; waiting with a cause is a postponement. "
    "judge: the configured one (name@fingerprint), also where a fallback or another model answered.",
    labels=("judge", "state", "cause"),
    born=STATES,
)
BACKFILLED = Declaration(
    name="backfilled_total",
    kind=Kind.COUNTER,
    help="Evaluations of backfills that ended here, by state. They are in no other series of evaluations or "
    "scores: their traces are not those of now.",
    labels=("judge", "state"),
    born=BACKFILL_ENDS,
)
PARKED = Declaration(
    name="parked_total",
    kind=Kind.COUNTER,
    help="Messages that could not become traces and were parked, by reason.",
    labels=("reason",),
    born=REASONS,
)
DUPLICATES = Declaration(
    name="duplicates_total",
    kind=Kind.COUNTER,
    help="Not stored: the same content again, a revision over the limit, a message that is parked already.",
    labels=("kind",),
    born=DUPLICATE_KINDS,
)
SCORES_SUPERSEDED = Declaration(
    name="scores_superseded_total",
    kind=Kind.COUNTER,
    help="Score rows that a newer revision of their trace replaced, or that came after it.",
)
TRACES = Declaration(
    name="traces_total",
    kind=Kind.COUNTER,
    help="Stored traces and revisions of live traffic, whatever becomes of them: what shares are taken of.",
    labels=PLACE_LABELS,
)
EMPTY_RETRIEVAL = Declaration(
    name="empty_retrieval_total",
    kind=Kind.COUNTER,
    help="Traces whose retrieval returned nothing, or only blank contexts.",
    labels=PLACE_LABELS,
)
NO_CONTEXT = Declaration(
    name="no_context_total",
    kind=Kind.COUNTER,
    help="Stored traces that do not say what was retrieved, or hold contexts without texts.",
    labels=PLACE_LABELS,
)
SUSPECTED_INJECTION = Declaration(
    name="suspected_injection_total",
    kind=Kind.COUNTER,
    help="Stored traces with a text that looks as if it wanted to steer the judge.",
    labels=PLACE_LABELS,
)
EXTRACTION = Declaration(
    name="extraction_total",
    kind=Kind.COUNTER,
    help="Fields of stored traces, by the rule that found them.",
    labels=("field", "rule", *PAIR_LABELS),
)
MAPPING_FOUND_NOTHING = Declaration(
    name="mapping_found_nothing_total",
    kind=Kind.COUNTER,
    help="Fields whose mapping or function found null, so that the next in order held.",
    labels=("field",),
)
TRACES_FILTERED = Declaration(
    name="traces_filtered_total",
    kind=Kind.COUNTER,
    help="Traces that were read and not stored; not_rag: no span tells of retrieval or a model; judge_call: "
    "a call of one of our own judges; forgotten: it, its user or its session was erased.",
    labels=("cause",),
    born=FILTER_CAUSES,
)
TRACES_CLOSED = Declaration(
    name="traces_closed_total",
    kind=Kind.COUNTER,
    help="Traces whose spans were taken as complete, by what said so.",
    labels=("reason",),
    born=CLOSINGS,
)
LATE_SPANS = Declaration(
    name="late_spans_total",
    kind=Kind.COUNTER,
    help="Traces that got spans after they had been closed, or more than are kept, by what came of it.",
    labels=("effect",),
    born=LATE_EFFECTS,
)
OCCURRED_AT_GUESSED = Declaration(
    name="occurred_at_guessed_total",
    kind=Kind.COUNTER,
    help="Traces whose time of occurrence was guessed, because the producer's was missing or out of range.",
)
