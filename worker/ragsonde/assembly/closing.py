"""When a trace whose spans come one by one is taken as complete."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from ragsonde_schemas.open_record import ClosingReason
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from ragsonde_schemas.span import Span

END_MARKER = "ragsonde.trace.end"
"""Attribute of any span, true: nothing more of this trace comes."""


class ClosingTimes(Value):
    """How long spans are waited for, and how many of a trace are kept."""

    quiet_seconds: float = Field(
        default=5.0, ge=0, description="with its root there, a trace is closed when no span came for so long"
    )
    no_root_seconds: float = Field(
        default=60.0, ge=0, description="without a root, it is closed when no span came for so long"
    )
    max_wait_seconds: float = Field(
        default=600.0, ge=0, description="a trace is closed at this age, even if spans still come"
    )
    spans_at_most: int = Field(
        default=10_000, ge=1, description="spans kept of a trace; it is closed when it has so many"
    )
    bytes_at_most: int = Field(
        default=16 * 1024 * 1024, ge=1, description="bytes of spans kept of a trace, likewise"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What is known of a trace's spans when some of them have just come. All times are of our own clock.

    Attributes:
        now: when they came.
        opened_at: when the first of them came, or the first after the trace had been closed.
        is_whole: the message that brought them holds the whole trace.
        is_cut: some are not kept, because the trace would be over its limits.
        closed_before: it had been closed once, so these are late spans.
    """

    now: datetime
    opened_at: datetime
    has_root: bool
    has_end_marker: bool
    is_whole: bool
    is_cut: bool
    span_count: int
    byte_count: int
    closed_before: bool


class Closing(NamedTuple):
    """When a trace is to be closed unless more of it comes, and why."""

    at: datetime
    reason: ClosingReason


def choose_closing(gathered: Gathered, *, times: ClosingTimes) -> Closing:
    """When the trace is to be closed: at once where nothing more can come, else after a quiet time.

    A trace that was closed before and is over its limits waits for a quiet time: closed at once, each of its
    late spans would make it be read again.
    """
    if gathered.is_whole:
        return Closing(gathered.now, ClosingReason.WHOLE)
    if gathered.has_end_marker:
        return Closing(gathered.now, ClosingReason.END_MARKER)
    if not gathered.closed_before and _is_full(gathered, times):
        return Closing(gathered.now, ClosingReason.OVER_LIMIT)
    seconds = times.quiet_seconds if gathered.has_root else times.no_root_seconds
    quiet = gathered.now + timedelta(seconds=seconds)
    latest = gathered.opened_at + timedelta(seconds=times.max_wait_seconds)
    if latest <= quiet:
        return Closing(latest, ClosingReason.MAX_WAIT)
    return Closing(quiet, ClosingReason.QUIET if gathered.has_root else ClosingReason.NO_ROOT)


def has_end_marker(span: Span) -> bool:
    """True when the span says that nothing more of its trace comes."""
    marker = span.attributes.get(END_MARKER)
    return marker is True or (isinstance(marker, str) and marker.casefold() == "true")


def is_root(span: Span) -> bool:
    """True for a span without a parent."""
    return span.parent_span_id is None


def _is_full(gathered: Gathered, times: ClosingTimes) -> bool:
    return (
        gathered.is_cut
        or gathered.span_count >= times.spans_at_most
        or gathered.byte_count >= times.bytes_at_most
    )
