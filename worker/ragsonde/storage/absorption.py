"""Taking spans into the buffer: which are new or fuller, whether they fit, and when their trace is due.

Two round trips for any number of traces: lock their records and ask which spans are there, then write what
changed and commit. Workers that bring spans of the same trace take turns, so the outcome does not depend on
which was first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.assembly.closing import ClosingTimes, Gathered, choose_closing, has_end_marker, is_root
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.jsonb import clean_text
from ragsonde.storage.open_records import OpenRecord, lock_records, read_records, update_records
from ragsonde.storage.span_rows import (
    KnownSpan,
    WrittenSpan,
    read_ranks,
    select_ranks,
    upsert_spans,
    write_span,
)
from ragsonde_schemas.open_record import AbsorbedTrace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde_schemas.span import Span

_APP_LETTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Absorbing:
    """How spans are absorbed.

    Attributes:
        queued_seconds: how long a trace that is due at once is left to the task that brought it.
    """

    now: datetime
    times: ClosingTimes
    queued_seconds: int


class _Addition(NamedTuple):
    spans: list[WrittenSpan]
    refused: int
    span_count: int
    byte_count: int


def absorb_spans(
    engine: Engine,
    spans: Sequence[Span],
    *,
    format_name: str,
    whole: frozenset[str],
    how: Absorbing,
) -> list[AbsorbedTrace]:
    """What became of the spans of each trace, by trace id; `ports.SpanBuffer.absorb` says what that can be.

    Raises:
        DatabaseLostError: nothing was stored, or it is not known; call again.
        GivenUpError: nothing was stored.
    """
    by_trace = _sort_versions(spans)
    if not by_trace:
        return []
    with pipelined_transaction(engine) as connection:
        locked = lock_records(connection, list(by_trace), format_name=format_name, now=how.now)
        stored = select_ranks(connection, (one.span for group in by_trace.values() for one in group))
        known = read_ranks(stored)
        changed: list[OpenRecord] = []
        added: list[WrittenSpan] = []
        absorbed: list[AbsorbedTrace] = []
        kept = {record.trace_id: record for record in read_records(locked)}
        for trace_id, group in by_trace.items():
            record = kept.get(trace_id)
            if record is None:
                forgotten = AbsorbedTrace(trace_id=trace_id, is_due=False, new_spans=0, is_forgotten=True)
                absorbed.append(forgotten)
                continue
            addition = _choose_new(group, known, record=record, times=how.times)
            updated = _update(record, addition, is_whole=record.trace_id in whole, how=how)
            if updated is not record:
                changed.append(updated)
            added += addition.spans
            absorbed.append(
                AbsorbedTrace(
                    trace_id=record.trace_id,
                    is_due=updated.is_due(how.now),
                    new_spans=len(addition.spans),
                    refused_spans=addition.refused,
                )
            )
        if added:
            upsert_spans(connection, added)
        if changed:
            update_records(connection, changed)
    return absorbed


def _sort_versions(spans: Sequence[Span]) -> dict[str, list[WrittenSpan]]:
    """The fullest version of each span, by trace id in order; those of a trace by start, its root early."""
    fullest: dict[tuple[str, str], WrittenSpan] = {}
    for span in spans:
        written = write_span(span)
        rival = fullest.get((span.trace_id, span.span_id))
        if rival is None or rival.rank < written.rank:
            fullest[span.trace_id, span.span_id] = written
    by_trace: defaultdict[str, list[WrittenSpan]] = defaultdict(list)
    for key in sorted(fullest):
        by_trace[key[0]].append(fullest[key])
    for group in by_trace.values():
        group.sort(key=lambda one: (one.span.start_ns, -one.span.end_ns, one.span.span_id))
    return by_trace


def _choose_new(
    group: Sequence[WrittenSpan],
    known: Mapping[tuple[str, str], KnownSpan],
    *,
    record: OpenRecord,
    times: ClosingTimes,
) -> _Addition:
    """Which of the spans are new or fuller and fit."""
    chosen: list[WrittenSpan] = []
    refused, span_count, byte_count = 0, record.span_count, record.byte_count
    for written in group:
        old = known.get((written.span.trace_id, written.span.span_id))
        if old is not None and old.rank >= written.rank:
            continue
        spans_then = span_count + (old is None)
        bytes_then = byte_count + len(written.payload) - (0 if old is None else old.byte_count)
        if spans_then > times.spans_at_most or bytes_then > times.bytes_at_most:
            refused += 1
            continue
        chosen.append(written)
        span_count, byte_count = spans_then, bytes_then
    return _Addition(chosen, refused, span_count, byte_count)


def _update(record: OpenRecord, addition: _Addition, *, is_whole: bool, how: Absorbing) -> OpenRecord:
    """The record with what was added; the same object where nothing of it changes."""
    added = [one.span for one in addition.spans]
    is_cut = record.is_cut or addition.refused > 0
    is_reopened = record.is_read(how.now)
    if not added:
        if is_reopened:
            return record if is_cut == record.is_cut else replace(record, is_cut=is_cut)
        if is_cut == record.is_cut and not is_whole:
            return record
    opened_at = how.now if is_reopened else record.opened_at
    has_root = record.has_root or any(map(is_root, added))
    is_marked = (record.has_end_marker and not is_reopened) or any(map(has_end_marker, added))
    closing = choose_closing(
        Gathered(
            now=how.now,
            opened_at=opened_at,
            has_root=has_root,
            has_end_marker=is_marked,
            is_whole=is_whole,
            is_cut=is_cut,
            span_count=addition.span_count,
            byte_count=addition.byte_count,
            closed_before=record.closed_version > 0,
        ),
        times=how.times,
    )
    is_due = closing.at <= how.now
    return replace(
        record,
        app=_name_app(added) or record.app,
        last_received_at=max(record.last_received_at, how.now),
        opened_at=opened_at,
        has_root=has_root,
        has_end_marker=is_marked,
        is_cut=is_cut,
        span_count=addition.span_count,
        byte_count=addition.byte_count,
        version=record.version + (1 if added else 0),
        next_close_at=closing.at,
        reason=closing.reason.value,
        # who brought them closes it; the sweeper looks later, should he fail
        queued_until=how.now + timedelta(seconds=how.queued_seconds) if is_due else None,
    )


def _name_app(added: Sequence[Span]) -> str:
    """The service of the first root among the spans; '' where it names none."""
    name = next((span.resource.get("service.name") for span in added if is_root(span)), None)
    return (clean_text(name) or "")[:_APP_LETTERS] if isinstance(name, str) else ""
