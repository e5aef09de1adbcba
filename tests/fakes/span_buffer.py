"""The buffer of spans in memory: what `ports.SpanBuffer` promises, without SQL."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.assembly.closing import ClosingTimes
from ragsonde.storage.span_rows import write_span
from ragsonde_schemas.open_record import (
    AbsorbedTrace,
    AdmittedRecord,
    ClaimedRecord,
    ClosingReason,
    OpenRecordKey,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from ragsonde.ports import Clock
    from ragsonde_schemas.span import Span

QUEUED_SECONDS = 150


@dataclass
class Open:
    """A gathered trace as it stands."""

    format: str
    first_received_at: datetime
    last_received_at: datetime
    opened_at: datetime
    app: str = ""
    spans: dict[str, Span] = field(default_factory=dict)
    has_root: bool = False
    has_end_marker: bool = False
    is_cut: bool = False
    version: int = 0
    claimed: int = 0
    closed: int = 0
    next_close_at: datetime | None = None
    reason: ClosingReason = ClosingReason.QUIET
    claims: int = 0
    unfinished_claims: int = 0
    lease_until: datetime | None = None
    queued_until: datetime | None = None
    admitted: tuple[AdmittedRecord, ...] = ()

    @property
    def byte_count(self) -> int:
        return sum(len(write_span(span).payload) for span in self.spans.values())


class FakeSpanBuffer:
    """Spans in memory.

    Attributes:
        open: by trace id, as they stand.
        has_stored: says whether a trace of an id was stored before its spans were dropped.
    """

    def __init__(
        self, *, clock: Clock, times: ClosingTimes | None = None, lease_seconds: int = QUEUED_SECONDS
    ) -> None:
        self.open: dict[str, Open] = {}
        self.has_stored: Callable[[str], bool] = lambda _trace_id: False
        self._clock = clock
        self._times = times or ClosingTimes()
        self._lease_seconds = lease_seconds
        self._lock = threading.RLock()

    def absorb(
        self, spans: Sequence[Span], *, format_name: str, whole: frozenset[str]
    ) -> list[AbsorbedTrace]:
        with self._lock:
            return [
                self._absorb(
                    trace_id,
                    [span for span in spans if span.trace_id == trace_id],
                    format_name=format_name,
                    is_whole=trace_id in whole,
                )
                for trace_id in sorted({span.trace_id for span in spans})
            ]

    def claim(self, trace_id: str, *, spares_suspects: bool = False) -> ClaimedRecord | None:
        with self._lock:
            now, record = self._clock.now(), self.open.get(trace_id)
            if record is None or not self._is_due(record, now):
                return None
            if spares_suspects and record.unfinished_claims:
                return None
            record.claims += 1
            record.unfinished_claims += 1
            record.claimed = record.version
            record.lease_until = now + timedelta(seconds=self._lease_seconds)
            return ClaimedRecord(
                trace_id=trace_id,
                format=record.format,
                spans=tuple(
                    sorted(record.spans.values(), key=lambda span: (span.start_ns, span.end_ns, span.span_id))
                ),
                version=record.version,
                claims=record.claims,
                unfinished_claims=record.unfinished_claims,
                reason=record.reason,
                closed_before=record.closed > 0,
                is_expired=not record.has_root and not record.closed and self.has_stored(trace_id),
                admitted=record.admitted,
                first_received_at=record.first_received_at,
                warnings=(self._describe_cut(),) if record.is_cut else (),
            )

    def is_suspect(self, trace_id: str) -> bool:
        with self._lock:
            record = self.open.get(trace_id)
            is_due = record is not None and self._is_due(record, self._clock.now())
            return is_due and record.unfinished_claims > 0

    def settle(self, claimed: ClaimedRecord, *, admitted: Sequence[AdmittedRecord]) -> bool:
        with self._lock:
            record = self.open.get(claimed.trace_id)
            if record is None or record.claims != claimed.claims or record.lease_until is None:
                return False
            known = {one.record_key: one for one in record.admitted}
            for one in admitted:
                first = known.get(one.record_key, one)
                known[one.record_key] = one.model_copy(
                    update={"app": first.app, "occurred_at": first.occurred_at}
                )
            record.admitted = tuple(sorted(known.values(), key=lambda one: one.record_key))
            record.closed = claimed.version
            record.lease_until = record.queued_until = None
            record.unfinished_claims = 0
            if record.version == record.closed:
                record.next_close_at = None
            return True

    def take_due(self, *, limit: int, queued_for_seconds: int = QUEUED_SECONDS) -> list[OpenRecordKey]:
        """What the sweeper would publish."""
        with self._lock:
            now = self._clock.now()
            turns: dict[str, int] = {}
            due = []
            for trace_id, record in sorted(self.open.items(), key=lambda item: self._order(*item)):
                is_queued = record.queued_until is not None and record.queued_until > now
                if self._is_due(record, now) and not is_queued:
                    turns[record.app] = turns.get(record.app, 0) + 1
                    due.append((turns[record.app], record.next_close_at, trace_id))
            chosen = [trace_id for _, _, trace_id in sorted(due)[:limit]]
            for trace_id in chosen:
                self.open[trace_id].queued_until = now + timedelta(seconds=queued_for_seconds)
            return [OpenRecordKey(trace_id=trace_id) for trace_id in chosen]

    def count_open(self) -> int:
        """How many are not closed."""
        with self._lock:
            return sum(record.next_close_at is not None for record in self.open.values())

    def _absorb(self, trace_id: str, spans: list[Span], *, format_name: str, is_whole: bool) -> AbsorbedTrace:
        now = self._clock.now()
        record = self.open.setdefault(trace_id, Open(format_name, now, now, now))
        is_leased = record.lease_until is not None and record.lease_until > now
        was_read = record.version == (record.claimed if is_leased else record.closed)
        was_cut = record.is_cut
        added, refused = self._add(record, spans)
        record.is_cut = was_cut or bool(refused)
        if added:
            record.version += 1
            if was_read:
                record.opened_at, record.has_end_marker = now, False
        if added or (not was_read and (is_whole or record.is_cut != was_cut)):
            record.last_received_at = max(record.last_received_at, now)
            record.has_root |= any(span.parent_span_id is None for span in added)
            record.has_end_marker |= any(
                span.attributes.get("ragsonde.trace.end") in (True, "true") for span in added
            )
            roots = [span for span in added if span.parent_span_id is None]
            if roots:
                record.app = roots[0].resource.get("service.name") or record.app
            self._schedule(record, now, is_whole=is_whole)
        return AbsorbedTrace(
            trace_id=trace_id,
            is_due=self._is_due(record, now),
            new_spans=len(added),
            refused_spans=refused,
        )

    def _add(self, record: Open, spans: list[Span]) -> tuple[list[Span], int]:
        """What was new or fuller and fitted, and how many did not fit."""
        fullest: dict[str, Span] = {}
        for span in spans:
            rival = fullest.get(span.span_id)
            if rival is None or _rank(rival) < _rank(span):
                fullest[span.span_id] = span
        added, refused = [], 0
        for span in sorted(fullest.values(), key=lambda one: (one.start_ns, -one.end_ns, one.span_id)):
            old = record.spans.get(span.span_id)
            if old is not None and _rank(old) >= _rank(span):
                continue
            after = Open(record.format, record.opened_at, record.opened_at, record.opened_at)
            after.spans = {**record.spans, span.span_id: span}
            if len(after.spans) > self._times.spans_at_most or after.byte_count > self._times.bytes_at_most:
                refused += 1
                continue
            record.spans[span.span_id] = span
            added.append(span)
        return added, refused

    def _schedule(self, record: Open, now: datetime, *, is_whole: bool) -> None:
        times = self._times
        is_full = (
            record.is_cut
            or len(record.spans) >= times.spans_at_most
            or record.byte_count >= times.bytes_at_most
        )
        quiet = times.quiet_seconds if record.has_root else times.no_root_seconds
        candidates = [
            (now + timedelta(seconds=quiet), 1, ClosingReason.QUIET),
            (record.opened_at + timedelta(seconds=times.max_wait_seconds), 0, ClosingReason.MAX_WAIT),
        ]
        at, _, reason = min(candidates)
        if reason is ClosingReason.QUIET and not record.has_root:
            reason = ClosingReason.NO_ROOT
        if is_full and not record.closed:
            at, reason = now, ClosingReason.OVER_LIMIT
        if record.has_end_marker:
            at, reason = now, ClosingReason.END_MARKER
        if is_whole:
            at, reason = now, ClosingReason.WHOLE
        record.next_close_at, record.reason = at, reason
        record.queued_until = now + timedelta(seconds=self._lease_seconds) if at <= now else None

    def _describe_cut(self) -> str:
        times = self._times
        return (
            f"spans: some are not kept, as a trace may have at most {times.spans_at_most} spans and "
            f"{times.bytes_at_most} bytes of them"
        )

    @staticmethod
    def _order(trace_id: str, record: Open) -> tuple[float, str]:
        return (record.next_close_at.timestamp() if record.next_close_at else 0.0, trace_id)

    @staticmethod
    def _is_due(record: Open, now: datetime) -> bool:
        is_free = record.lease_until is None or record.lease_until <= now
        return record.next_close_at is not None and record.next_close_at <= now and is_free


def _rank(span: Span) -> tuple[int, int, bytes]:
    return write_span(span).rank
