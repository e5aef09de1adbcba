"""The spans of traces that are not complete yet: `ports.SpanBuffer` in Postgres."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.assembly.closing import ClosingTimes
from ragsonde.storage.absorption import Absorbing, absorb_spans
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.open_records import (
    claim_record,
    has_stored_trace,
    is_suspect,
    read_claim,
    settle_record,
)
from ragsonde.storage.partitions import DAYS_OF_CLOCK_SKEW
from ragsonde.storage.retries import Retries
from ragsonde.storage.span_rows import read_payloads, select_payloads
from ragsonde_schemas.open_record import ClaimedRecord

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde_schemas.open_record import AbsorbedTrace, AdmittedRecord
    from ragsonde_schemas.span import Span


class PostgresSpanBuffer:
    """Gathers spans in Postgres; safe to use from any number of threads and processes.

    Args:
        engine: of this process.
        clock: whose times decide when a trace is closed; no producer's time does.
        times: how long spans are waited for.
        lease_seconds: how long a claimed trace is its worker's; so long one that is due at once is also left
            to the task that brought its spans.
        retention_days: of traces: so far back it is looked whether one of a rootless trace's id is stored.
        span_retention_days: of spans: what was admitted longer ago may have lost its spans.
        retries: for what Postgres gives up on; all methods raise GivenUpError when these did not help.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        times: ClosingTimes | None = None,
        lease_seconds: int = 150,
        retention_days: int = 90,
        span_retention_days: int = 1,
        retries: Retries | None = None,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._times = times or ClosingTimes()
        self._lease_seconds = lease_seconds
        self._retention_days = retention_days
        self._span_retention_days = span_retention_days
        self._retries = retries or Retries()

    def absorb(
        self, spans: Sequence[Span], *, format_name: str, whole: frozenset[str]
    ) -> list[AbsorbedTrace]:
        """What became of the spans of each trace, by trace id; all of them in one transaction.

        Raises:
            DatabaseLostError: nothing was stored, or it is not known; call again.
        """
        how = Absorbing(now=self._clock.now(), times=self._times, queued_seconds=self._lease_seconds)
        return self._retries.run(
            lambda: absorb_spans(self._engine, spans, format_name=format_name, whole=whole, how=how)
        )

    def claim(self, trace_id: str, *, spares_suspects: bool = False) -> ClaimedRecord | None:
        """The spans of a trace that is due, under a lease; None when it is not, or somebody else has it.

        With `spares_suspects` None also where an earlier claim of it never ended.

        Raises:
            DatabaseLostError: it may be claimed or not; the sweeper finds it when the lease is over.
        """
        now = self._clock.now()
        return self._retries.run(lambda: self._claim(trace_id, now, spares_suspects=spares_suspects))

    def is_suspect(self, trace_id: str) -> bool:
        """True when it is due, and an earlier claim of it never ended: it is closed alone.

        Raises:
            DatabaseLostError: call again.
        """
        columns = {"trace_id": trace_id, "now": self._clock.now()}

        def attempt() -> bool:
            with pipelined_transaction(self._engine) as connection:
                return is_suspect(connection, columns)

        return self._retries.run(attempt)

    def settle(self, claimed: ClaimedRecord, *, admitted: Sequence[AdmittedRecord]) -> bool:
        """True when the trace is closed as claimed; spans that came meanwhile keep it open.

        Of a record that is remembered already, app and time stay as they are.

        Raises:
            DatabaseLostError: it may be settled or not; call again.
        """
        first = {one.record_key: one for one in (*admitted, *claimed.admitted)}
        kept = {one.record_key: one for one in (*claimed.admitted, *admitted)}
        places = [
            kept[name].model_copy(update={"app": first[name].app, "occurred_at": first[name].occurred_at})
            for name in sorted(kept)
        ]

        def attempt() -> bool:
            with pipelined_transaction(self._engine) as connection:
                return settle_record(
                    connection,
                    trace_id=claimed.trace_id,
                    claims=claimed.claims,
                    admitted=places,
                )

        return self._retries.run(attempt)

    def _claim(self, trace_id: str, now: datetime, *, spares_suspects: bool) -> ClaimedRecord | None:
        columns = {
            "spares_suspects": spares_suspects,
            "trace_id": trace_id,
            "now": now,
            "lease_until": now + timedelta(seconds=self._lease_seconds),
            "first_day": now.date() - timedelta(days=self._retention_days),
            "last_day": now.date() + timedelta(days=DAYS_OF_CLOCK_SKEW),
            "admitted_before": now - timedelta(days=self._span_retention_days),
        }
        with pipelined_transaction(self._engine) as connection:
            asked = claim_record(connection, columns)
            payloads = select_payloads(connection, columns)
            claim = read_claim(asked)
            if claim is None:
                return None
            is_late_remainder = not claim.has_root and not claim.closed_before
            is_expired = is_late_remainder and has_stored_trace(connection, columns)
            stored = payloads.fetchall()
        spans, fault = _read_spans([payload for (payload,) in stored])
        return ClaimedRecord(
            trace_id=trace_id,
            format=claim.format,
            spans=spans,
            version=claim.version,
            claims=claim.claims,
            unfinished_claims=claim.unfinished_claims,
            reason=claim.reason,
            closed_before=claim.closed_before,
            is_expired=is_expired,
            admitted=claim.admitted,
            first_received_at=claim.first_received_at,
            warnings=(self._describe_cut(),) if claim.is_cut else (),
            fault=fault,
        )

    def _describe_cut(self) -> str:
        times = self._times
        return (
            f"spans: some are not kept, as a trace may have at most {times.spans_at_most} spans and "
            f"{times.bytes_at_most} bytes of them"
        )


def _read_spans(payloads: Sequence[bytes]) -> tuple[tuple[Span, ...], str]:
    """The spans, and ''; or none, and why they cannot be read: the claim stands, and can be settled."""
    try:
        return read_payloads(payloads), ""
    except Exception as error:  # noqa: BLE001  # bytes of any kind, such as another version's
        return (), (
            f"{type(error).__name__} while reading {len(payloads)} stored spans; expected spans that this "
            "version wrote: send the trace again"
        )
