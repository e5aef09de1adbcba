"""The process itself."""

from __future__ import annotations

from ragsonde.exposition.declaration import Declaration, Kind

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
