"""What judging found, written as alerts: opened, made pages, resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.regression.alert_state import EventKind
from ragsonde.regression.baseline import BaselineKind
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.explanation import explain_fall, explain_recovery
from ragsonde.regression.replay import SEARCHED_DAYS
from ragsonde.storage.alert_circumstances import find_circumstances
from ragsonde.storage.alert_evidence import find_changes, find_worst_traces
from ragsonde.storage.alert_notices import note_alert
from ragsonde.storage.alerts import FoundFall, escalate_alert, open_alert, resolve_alert
from ragsonde.storage.brief_reading import BriefReading
from ragsonde.storage.score_blocks import Stretch, read_stretches
from ragsonde.watching.counted_rows import count_rows
from ragsonde.watching.explanation import describe_fall
from ragsonde_schemas.alert_notice import AlertEvent
from ragsonde_schemas.score_stream import block_at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from ragsonde.regression.blocks import BlockCounts
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.regression.watched_stream import Armed, Happening, WatchedStream
    from ragsonde_schemas.score_stream import ScoreStream


class Told(NamedTuple):
    """What is new to tell, and of which alert it is.

    Attributes:
        left_out: what would illustrate it and took too long to read: `traces`, `contexts` and so on.
    """

    alert: int
    stream: ScoreStream
    kind: EventKind
    explanation: dict[str, Any]
    left_out: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Telling:
    """Writes what is new to tell, in the transaction that judged.

    Attributes:
        names: of the streams, by number.
        stored: the baselines that judged, by stream and the block that they judge from.
        watched: the streams, by number.
        open: the alert of each stream that is open now, and its drop.
    """

    connection: Connection
    options: RegressionOptions
    names: Mapping[int, ScoreStream]
    stored: Mapping[tuple[int, int], Armed]
    watched: Mapping[int, WatchedStream]
    open: dict[int, tuple[int, float]]
    _reading: BriefReading = field(init=False)

    def __post_init__(self) -> None:
        self._reading = BriefReading(connection=self.connection)

    def tell(self, one: Happening, *, now: datetime) -> Told | None:
        """Writes one of the happenings, which come in the order of time; None where it is told already."""
        baseline = self.stored[one.stream, one.armed.judges_from].number or 0
        if one.kind is EventKind.RESOLVE:
            alert, explanation = self._resolve(one)
        else:
            fallen = self._tell_fall(one, baseline=baseline, now=now)
            if fallen is None:
                return None
            alert, explanation = fallen
        event = AlertEvent(one.kind.value)
        note_alert(self.connection, alert, event, sinks=self.options.alert_sinks, now=now)
        left_out = self._reading.take_left_out()
        return Told(alert, self.names[one.stream], one.kind, explanation, left_out)

    def _tell_fall(
        self, one: Happening, *, baseline: int, now: datetime
    ) -> tuple[int, dict[str, Any]] | None:
        opened = self.open.get(one.stream)
        if opened is not None and one.kind is not EventKind.PAGE:
            return None
        earliest = max(_find_earliest(one), self._find_last_end(one) + 1)
        counts = self._read_counts(one, since=earliest)
        smallest = self.options.smallest_drop
        found = explain_fall(counts, one.armed.baseline, smallest_drop=smallest)
        stream, since, until = self.names[one.stream], block_at(found.since), block_at(one.block + 1)
        explanation = describe_fall(found, one.armed.baseline, log_evidence=one.after.log_evidence) | {
            "traces": find_worst_traces(self._reading, stream, since=since, until=until),
            "changes": find_changes(self._reading, stream, since=since),
            **find_circumstances(self._reading, stream, since=since, until=until, smallest_drop=smallest),
        }
        fall = FoundFall(one.block, found.since, baseline, explanation)
        if opened is None:
            alert = open_alert(self.connection, one.stream, fall, kind=one.kind.value, now=now)
        else:
            alert = opened[0]
            if not escalate_alert(self.connection, alert, fall):
                return None
        self.open[one.stream] = (alert, found.drop)
        return alert, explanation

    def _resolve(self, one: Happening) -> tuple[int, dict[str, Any]]:
        alert, drop = self.open.pop(one.stream)
        since = one.block if one.before.opened is None else one.before.opened
        counts = self._read_counts(one, since=since)
        found = explain_recovery(counts, one.armed.baseline, drop=drop)
        explanation = describe_fall(found, one.armed.baseline, log_evidence=one.before.log_recovered)
        resolve_alert(self.connection, alert, block=one.block, explanation=explanation)
        return alert, explanation

    def _read_counts(self, one: Happening, *, since: int) -> BlockCounts:
        stretch = {one.stream: Stretch(block_at(since), block_at(since))}
        rows = read_stretches(self.connection, stretch, until=block_at(one.block + 1))
        return count_rows(rows)[one.stream][0]

    def _find_last_end(self, one: Happening) -> int:
        falls = self.watched[one.stream].falls
        return max(
            (fall.closed for fall in falls if fall.closed is not None and fall.closed < one.block), default=-1
        )


def _find_earliest(one: Happening) -> int:
    """The first block in which the beginning of a fall is looked for."""
    armed = one.armed
    first = armed.judges_from if armed.baseline.kind is BaselineKind.PINNED else armed.since
    return max(first, one.block + 1 - SEARCHED_DAYS * BLOCKS_PER_DAY)
