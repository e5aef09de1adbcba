"""Every series that ragsonde exposes: its name, help, unit, labels and buckets. No other file names one."""

from __future__ import annotations

from ragsonde.exposition.closed_labels import (
    CACHE_RESULTS,
    CLOSINGS,
    DIRECTIONS,
    DUPLICATE_KINDS,
    FILTER_CAUSES,
    LATE_EFFECTS,
    OUTCOMES,
    REASONS,
    RECEIVED,
    RECEIVER_OUTCOMES,
    REPLIES,
    STATES,
)
from ragsonde.exposition.declaration import Declaration, Kind

PLACE_LABELS = ("app", "environment", "release")
_SCORE_LABELS = ("scorer", "judge", *PLACE_LABELS)

# Scores are lumpy and sit on round numbers: an edge just below a usual threshold tells "< .5" from "<= .5".
SCORE_BUCKETS = (0.0, 0.1, 0.2, 0.2999, 0.3, 0.4, 0.4999, 0.5, 0.6, 0.6999, 0.7, 0.8, 0.8999, 0.9, 1.0)
_STAGE_BUCKETS = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    120.0,
)
_JUDGE_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0, 60.0, 120.0)
_END_TO_END_BUCKETS = (
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
    *(120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0, 86400.0),
)

# Scores
SCORE = Declaration(
    name="score",
    kind=Kind.HISTOGRAM,
    help="Scores in 0..1, before scale and rounding for people; one observation a committed score.",
    labels=_SCORE_LABELS,
    buckets=SCORE_BUCKETS,
)
SCORE_SQUARES = Declaration(
    name="score_squares_total",
    kind=Kind.COUNTER,
    help="Sum of squared scores; with sum and count it gives the variance.",
    labels=_SCORE_LABELS,
)
SCORES_BELOW_THRESHOLD = Declaration(
    name="scores_below_threshold_total",
    kind=Kind.COUNTER,
    help="Scores below their scorer's threshold; only scorers that have one.",
    labels=_SCORE_LABELS,
)
UNSCORED = Declaration(
    name="unscored_total",
    kind=Kind.COUNTER,
    help="Outcomes without a number: skipped (nothing to score) or error, and the cause.",
    labels=("scorer", "judge", "status", "cause"),
    born=OUTCOMES,
)
INSUFFICIENT = Declaration(
    name="insufficient_total",
    kind=Kind.COUNTER,
    help="Questions whose contexts do not suffice to answer, as the judge says.",
    labels=("judge", *PLACE_LABELS),
)

# Ledger
MESSAGES_RECEIVED = Declaration(
    name="messages_received_total",
    kind=Kind.COUNTER,
    help="Messages taken off the queue, by the format they were decoded as.",
    labels=("format",),
)
EVALUATIONS = Declaration(
    name="evaluations_total",
    kind=Kind.COUNTER,
    help="Evaluations that entered a state, as committed here; waiting with a cause is a postponement.",
    labels=("judge", "state", "cause"),
    born=STATES,
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
EMPTY_RETRIEVAL = Declaration(
    name="empty_retrieval_total",
    kind=Kind.COUNTER,
    help="Traces whose retrieval returned nothing, or only blank contexts.",
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
    labels=("field", "rule"),
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
    help="Traces that were read and not stored, by cause; not_rag: no span tells of retrieval or a model.",
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

# Judges
JUDGE_CALLS = Declaration(
    name="judge_calls_total",
    kind=Kind.COUNTER,
    help="Calls to a provider, by what became of the reply; judge_unavailable: an outage, none came.",
    labels=("judge", "model", "outcome"),
    born=REPLIES,
)
JUDGE_SECONDS = Declaration(
    name="judge_seconds",
    kind=Kind.HISTOGRAM,
    help="Duration of one call to a provider.",
    labels=("judge",),
    unit="seconds",
    buckets=_JUDGE_BUCKETS,
)
JUDGE_TOKENS = Declaration(
    name="judge_tokens_total",
    kind=Kind.COUNTER,
    help="Tokens sent to and received from a provider, as it counts them.",
    labels=("judge", "direction"),
    unit="tokens",
    born=DIRECTIONS,
)
JUDGE_COST = Declaration(
    name="judge_cost_usd_total",
    kind=Kind.COUNTER,
    help="Known cost of calls in US dollars; calls of unknown price are in judge_cost_unknown_total.",
    labels=("judge",),
    unit="usd",
)
JUDGE_COST_UNKNOWN = Declaration(
    name="judge_cost_unknown_total",
    kind=Kind.COUNTER,
    help="Calls whose price is not known; those that an outage ended are not among them.",
    labels=("judge",),
)
JUDGE_CACHE = Declaration(
    name="judge_cache_total",
    kind=Kind.COUNTER,
    help="Looks for verdicts given earlier for the same content; a hit saves the call.",
    labels=("judge", "result"),
    born=CACHE_RESULTS,
)
JUDGE_REPAIRS = Declaration(
    name="judge_repairs_total",
    kind=Kind.COUNTER,
    help="Calls that asked a judge to repair an unusable reply.",
    labels=("judge",),
)
JUDGE_CIRCUIT_OPEN = Declaration(
    name="judge_circuit_open",
    kind=Kind.GAUGE,
    help="1 while this process leaves a judge's model alone because it does not answer.",
    labels=("judge", "model"),
)
JUDGE_PAUSED = Declaration(
    name="judge_paused",
    kind=Kind.SNAPSHOT,
    help="1 while no worker asks a judge's own model, because it refuses until somebody acts.",
    labels=("judge",),
)
JUDGE_BUDGET_RATIO = Declaration(
    name="judge_budget_ratio",
    kind=Kind.SNAPSHOT,
    help="Spent and reserved over what a judge may spend in the present hour or day (UTC).",
    labels=("judge", "period"),
)
JUDGE_SAMPLE_RATE = Declaration(
    name="judge_sample_rate",
    kind=Kind.SNAPSHOT,
    help="Share of an app's traces that a judge looks at, where a floor or a budget has set it.",
    labels=("judge", "app"),
)
JUDGE_AGREEMENT = Declaration(
    name="judge_agreement_ratio",
    kind=Kind.SNAPSHOT,
    help="Share of contexts on whose relevance a judge and the free one agree, over the last hour's "
    "assessments; suspected: of traces with a suspected injection.",
    labels=("judge", "against", "app", "suspected"),
    unit="ratio",
)

# Flow
END_TO_END = Declaration(
    name="end_to_end_seconds",
    kind=Kind.HISTOGRAM,
    help="From the trace's occurrence to its committed scores, one observation an evaluation with scores.",
    unit="seconds",
    buckets=_END_TO_END_BUCKETS,
)
STAGE_SECONDS = Declaration(
    name="stage_seconds",
    kind=Kind.HISTOGRAM,
    help="Duration of one stage of the path.",
    labels=("stage",),
    unit="seconds",
    buckets=_STAGE_BUCKETS,
)
IN_FLIGHT = Declaration(
    name="in_flight",
    kind=Kind.GAUGE,
    help="Messages that are being worked on.",
)
LAST_COMMITTED = Declaration(
    name="last_committed_timestamp_seconds",
    kind=Kind.GAUGE,
    help="When this process last committed a trace or an evaluation; 0 before the first.",
    unit="seconds",
)

# Score sinks
SCORE_SINK_SENT = Declaration(
    name="score_sink_sent_total",
    kind=Kind.COUNTER,
    help="Results that an external sink took.",
    labels=("sink",),
)
SCORE_SINK_DROPPED = Declaration(
    name="score_sink_dropped_total",
    kind=Kind.COUNTER,
    help="Results that an external sink never got: its queue was full, or it refused them, or was away.",
    labels=("sink",),
)

# The process
CONFIG = Declaration(
    name="config_info",
    kind=Kind.INFO,
    help="Hash of the effective configuration; processes of one deployment show the same.",
    labels=("hash",),
)
BUILD = Declaration(
    name="build_info",
    kind=Kind.INFO,
    help="Version of ragsonde.",
    labels=("version",),
)
SERIES_DROPPED = Declaration(
    name="series_dropped_total",
    kind=Kind.COUNTER,
    help="Values that went to no series because the limit of exposed lines was reached.",
)
SINK_FAILURES = Declaration(
    name="sink_failures_total",
    kind=Kind.COUNTER,
    help="Committed results that could not be put into series.",
)

# The monitor
QUEUE_MESSAGES = Declaration(
    name="queue_messages",
    kind=Kind.SNAPSHOT,
    help="Messages ready in a queue.",
    labels=("queue",),
)
LEDGER_EVALUATIONS = Declaration(
    name="ledger_evaluations",
    kind=Kind.SNAPSHOT,
    help="Evaluations born in the last 24 hours, by judge (its name alone) and present state, from Postgres.",
    labels=("judge", "state"),
)
OPEN_TRACES = Declaration(
    name="open_traces",
    kind=Kind.GAUGE,
    help="Traces whose spans are still being gathered, from Postgres.",
)
SWEPT = Declaration(
    name="swept_total",
    kind=Kind.COUNTER,
    help="Due evaluations whose work message the sweeper published.",
)
JUDGE_EPOCH = Declaration(
    name="judge_model_epoch",
    kind=Kind.SNAPSHOT,
    help="Number of the model that answers for a judge, of those that have under its fingerprint.",
    labels=("judge",),
)
JUDGE_DRIFT = Declaration(
    name="judge_drift",
    kind=Kind.SNAPSHOT,
    help="Mean change of a judge's scores of the check set since they were first given, newest results.",
    labels=("judge", "scorer"),
)
JUDGE_DRIFT_STDERR = Declaration(
    name="judge_drift_stderr",
    kind=Kind.SNAPSHOT,
    help="Standard error of the drift; absent below two traces.",
    labels=("judge", "scorer"),
)
JUDGE_CHECK_AGE = Declaration(
    name="judge_check_age_seconds",
    kind=Kind.SNAPSHOT,
    help="How long ago a judge last gave a score of the check set; absent before the first.",
    labels=("judge",),
    unit="seconds",
)
MONITOR_JOB_LAST_SUCCESS = Declaration(
    name="monitor_job_last_success_timestamp_seconds",
    kind=Kind.GAUGE,
    help="When a job of the monitor last succeeded; 0 before the first time.",
    labels=("job_name",),
    unit="seconds",
)
MONITOR_JOB_SECONDS = Declaration(
    name="monitor_job_seconds",
    kind=Kind.GAUGE,
    help="How long the last run of a job took.",
    labels=("job_name",),
    unit="seconds",
)
MONITOR_JOB_FAILURES = Declaration(
    name="monitor_job_failures_total",
    kind=Kind.COUNTER,
    help="Runs of a job that failed.",
    labels=("job_name",),
)
MONITOR_JOB_SKIPS = Declaration(
    name="monitor_job_skips_total",
    kind=Kind.COUNTER,
    help="Runs of a job that were left to another monitor.",
    labels=("job_name",),
)

# The receiver
RECEIVER_REQUESTS = Declaration(
    name="receiver_requests_total",
    kind=Kind.COUNTER,
    help="Requests that were answered, by path (other: one that does not exist) and HTTP status.",
    labels=("path", "status"),
    born=RECEIVED,
)
RECEIVER_MESSAGES = Declaration(
    name="receiver_messages_total",
    kind=Kind.COUNTER,
    help="Posted messages: accepted (the broker confirmed), refused (unreadable), unconfirmed (send again).",
    labels=("outcome",),
    born=RECEIVER_OUTCOMES,
)
RECEIVER_SECONDS = Declaration(
    name="receiver_request_seconds",
    kind=Kind.HISTOGRAM,
    help="From a whole request to its answer, the broker's confirm included.",
    labels=("path",),
    unit="seconds",
    buckets=_STAGE_BUCKETS,
)

_PROCESS = (CONFIG, BUILD, SERIES_DROPPED)
WORKER_SERIES = (
    *(SCORE, SCORE_SQUARES, SCORES_BELOW_THRESHOLD, UNSCORED, INSUFFICIENT),
    *(MESSAGES_RECEIVED, EVALUATIONS, PARKED, DUPLICATES, SCORES_SUPERSEDED, EMPTY_RETRIEVAL, EXTRACTION),
    SUSPECTED_INJECTION,
    *(
        MAPPING_FOUND_NOTHING,
        TRACES_FILTERED,
        TRACES_CLOSED,
        LATE_SPANS,
        OCCURRED_AT_GUESSED,
        JUDGE_CALLS,
        JUDGE_SECONDS,
        JUDGE_TOKENS,
        JUDGE_COST,
        JUDGE_COST_UNKNOWN,
        JUDGE_REPAIRS,
        JUDGE_CACHE,
        JUDGE_CIRCUIT_OPEN,
    ),
    *(END_TO_END, STAGE_SECONDS, IN_FLIGHT, LAST_COMMITTED, SINK_FAILURES),
    *(SCORE_SINK_SENT, SCORE_SINK_DROPPED),
    *_PROCESS,
)
MONITOR_SERIES = (
    *(QUEUE_MESSAGES, LEDGER_EVALUATIONS, OPEN_TRACES, SWEPT),
    *(JUDGE_BUDGET_RATIO, JUDGE_SAMPLE_RATE, JUDGE_PAUSED, JUDGE_AGREEMENT),
    *(JUDGE_EPOCH, JUDGE_DRIFT, JUDGE_DRIFT_STDERR, JUDGE_CHECK_AGE),
    *(MONITOR_JOB_LAST_SUCCESS, MONITOR_JOB_SECONDS, MONITOR_JOB_FAILURES, MONITOR_JOB_SKIPS),
    *_PROCESS,
)
RECEIVER_SERIES = (RECEIVER_REQUESTS, RECEIVER_MESSAGES, RECEIVER_SECONDS, *_PROCESS)
PLACED_LINES = SCORE.lines_per_label_set + 2
"""Lines of one scorer under one judge in one place: histogram, squares and scores below the threshold."""
