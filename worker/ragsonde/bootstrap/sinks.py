"""Where a worker tells of what it has evaluated: its series, and the score sinks of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.exposition.series import SCORE_SINK_DROPPED, SCORE_SINK_SENT
from ragsonde.exposition.sink import PrometheusSink
from ragsonde.plugins.sinks import load_sink_kinds
from ragsonde.sinks.exporting import ExportingSink
from ragsonde.sinks.table import build_exports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock, ScoreSink
    from ragsonde.settings import Settings
    from ragsonde.sinks.outbox import Outbox


class Sinks(NamedTuple):
    """What a worker tells, and whom.

    Attributes:
        prometheus: the series alone.
        all: the series and every score sink.
        outboxes: of the score sinks.
    """

    prometheus: PrometheusSink
    all: ScoreSink
    outboxes: tuple[Outbox, ...]


def build_sinks(
    settings: Settings, *, series: Series, clock: Clock, fingerprints: Mapping[str, str]
) -> Sinks:
    """The sinks, the counters of each score sink born at 0.

    Raises:
        ConfigError: a score sink is configured wrong.
    """
    prometheus = PrometheusSink(series, clock=clock, fingerprints=fingerprints)
    exports = build_exports(
        settings.score_sinks,
        added=load_sink_kinds(),
        on_sent=lambda name, number: series.add(SCORE_SINK_SENT, number, sink=name),
        on_dropped=lambda name, number: series.add(SCORE_SINK_DROPPED, number, sink=name),
    )
    for export in exports:
        for counter in (SCORE_SINK_SENT, SCORE_SINK_DROPPED):
            series.add(counter, 0.0, sink=export.outbox.name)
    told = ExportingSink(prometheus, exports, clock=clock) if exports else prometheus
    return Sinks(prometheus, told, tuple(export.outbox for export in exports))
