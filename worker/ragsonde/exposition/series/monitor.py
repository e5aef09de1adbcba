"""What the monitor sees."""

from __future__ import annotations

from ragsonde.exposition.declaration import Declaration, Kind

QUEUE_MESSAGES = Declaration(
    name="queue_messages",
    kind=Kind.SNAPSHOT,
    help="Messages ready in a queue.",
    labels=("queue",),
)
QUEUE_OLDEST = Declaration(
    name="queue_oldest_seconds",
    kind=Kind.SNAPSHOT,
    help="How long the work that has been due longest has been due, from Postgres: an evaluation, or a "
    "trace to be closed; 0 where nothing is. Brokers do not tell how old a message is.",
    unit="seconds",
)
LEDGER_EVALUATIONS = Declaration(
    name="ledger_evaluations",
    kind=Kind.SNAPSHOT,
    help="Evaluations born in the last 24 hours, by judge (its name alone) and present state, from Postgres.",
    labels=("judge", "state"),
)
LEDGER_VIOLATIONS = Declaration(
    name="ledger_violations",
    kind=Kind.SNAPSHOT,
    help="Rows of the last 25 hours that break an invariant of the ledger, as last checked; absent until "
    "they are. ragsonde ledger names traces.",
    labels=("invariant",),
)
OPEN_TRACES = Declaration(
    name="open_traces",
    kind=Kind.SNAPSHOT,
    help="Traces whose spans are still being gathered, from Postgres.",
)
MONITOR_LAST_BLOCK = Declaration(
    name="monitor_last_block_timestamp_seconds",
    kind=Kind.SNAPSHOT,
    help="When the newest block of five minutes ended that is closed and whose scores are counted; absent "
    "before the first.",
    unit="seconds",
)
MONITOR_LAG = Declaration(
    name="monitor_lag_seconds",
    kind=Kind.SNAPSHOT,
    help="How long scores have waited to be counted: since the monitor last looked for new ones, or since "
    "the block that has waited longest could have been counted.",
    unit="seconds",
)
BACKFILL_PROGRESS = Declaration(
    name="backfill_done_ratio",
    kind=Kind.SNAPSHOT,
    help="How much of a backfill has ended, of what it was to evaluate; absent once it is over.",
    labels=("backfill", "judge"),
    unit="ratio",
)
BACKFILL_EVALUATIONS = Declaration(
    name="backfill_evaluations",
    kind=Kind.SNAPSHOT,
    help="Evaluations of a backfill by state; outstanding: not ended yet; left: put back, shed, superseded.",
    labels=("backfill", "judge", "state"),
)
SWEPT = Declaration(
    name="swept_total",
    kind=Kind.COUNTER,
    help="Due evaluations whose work message the sweeper published.",
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
ALERT_NOTICES_SENT = Declaration(
    name="alert_notices_sent_total",
    kind=Kind.COUNTER,
    help="Notices of alerts that were taken where they are sent to.",
    labels=("sink",),
)
ALERT_NOTICES_FAILED = Declaration(
    name="alert_notices_failed_total",
    kind=Kind.COUNTER,
    help="Attempts to send a notice of an alert that failed; it is sent again.",
    labels=("sink",),
)
ALERT_NOTICES_DROPPED = Declaration(
    name="alert_notices_dropped_total",
    kind=Kind.COUNTER,
    help="Notices of alerts that were given up after a day of attempts.",
    labels=("sink",),
)
