"""How fast traces go, and what is sent elsewhere."""

from __future__ import annotations

from ragsonde.exposition.declaration import Declaration, Kind
from ragsonde.exposition.series.shapes import END_TO_END_BUCKETS, STAGE_BUCKETS

END_TO_END = Declaration(
    name="end_to_end_seconds",
    kind=Kind.HISTOGRAM,
    help="From the trace's occurrence to its committed scores, one observation an evaluation with scores.",
    unit="seconds",
    buckets=END_TO_END_BUCKETS,
)
STAGE_SECONDS = Declaration(
    name="stage_seconds",
    kind=Kind.HISTOGRAM,
    help="Duration of one stage of the path.",
    labels=("stage",),
    unit="seconds",
    buckets=STAGE_BUCKETS,
)
IN_FLIGHT = Declaration(
    name="in_flight",
    kind=Kind.GAUGE,
    help="Messages that are being worked on.",
    adds_up=True,
)
LAST_COMMITTED = Declaration(
    name="last_committed_timestamp_seconds",
    kind=Kind.GAUGE,
    help="When this process last committed a trace or an evaluation; 0 before the first.",
    unit="seconds",
)
DATABASE_LOST = Declaration(
    name="database_lost_total",
    kind=Kind.COUNTER,
    help="Attempts of this worker that found Postgres away; the delivery is kept and tried again.",
)
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
