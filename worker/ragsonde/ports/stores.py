"""Where traces, spans and messages are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.errors import Cause, ParkReason
    from ragsonde_schemas.evaluation import (
        Admission,
        ClaimedEvaluation,
        EvaluationKey,
        EvaluationResult,
        EvaluationState,
        PlannedEvaluation,
    )
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.open_record import (
        AbsorbedTrace,
        AdmittedRecord,
        ClaimedRecord,
    )
    from ragsonde_schemas.span import Span
    from ragsonde_schemas.trace import Trace, TraceKey


class TraceStore(Protocol):
    """Where traces and their evaluations are kept."""

    def admit(
        self,
        trace: Trace,
        planned: Sequence[PlannedEvaluation],
        *,
        is_newest: bool = False,
        claims_first: bool = False,
    ) -> Admission:
        """Stores a trace with its evaluations in one transaction, unless it is a duplicate.

        Equal content hash as any stored revision: `duplicate`. Another one: the next revision, at most 3, and
        the evaluations of the older ones become superseded. Where `occurred_at` was guessed, a record of that
        day or the day before is looked up first.

        Args:
            trace: to store.
            planned: its evaluations.
            is_newest: it is known to be what the record holds by now, and no old delivery come again: only a
                newest revision that counts and is equal makes it a duplicate.
            claims_first: the caller runs the first evaluation that waits at once, before anything else: where
                the trace is stored, that one is claimed with it, as `claim` would right after. It is due
                again when the lease is over, like any other. Of a duplicate nothing is claimed.

        Raises:
            DatabaseLostError: nothing was stored, or it is not known; call again.
        """
        ...

    def claim(self, key: EvaluationKey, *, spares_suspects: bool = False) -> ClaimedEvaluation | None:
        """The evaluation, now running under a lease, or None when it is not due or somebody else has it.

        Where retention has dropped its texts it is claimed all the same, as `is_expired`: whoever claims it
        ends it, so that it has its rows and is counted like every other. Verdicts given earlier for the same
        content are looked for in the same transaction.

        Args:
            key: names it.
            spares_suspects: None also where an earlier run of it never ended, and nothing is counted.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def is_suspect(self, key: EvaluationKey) -> bool:
        """True when it is due, and an earlier claim of it never ended: it is worked on alone.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def finish(self, claimed: ClaimedEvaluation, result: EvaluationResult) -> EvaluationState | None:
        """Ends a claimed evaluation in one transaction: assessment, replies, scores, state.

        Its calls are added to those of the runs before. It counts as one more attempt when it fails by the
        trace's own fault: neither the judge was away or retired, nor had its texts expired.

        Returns:
            The state it ended in (SUPERSEDED where a newer revision exists by now), or None when it had ended
            already and nothing was written.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def postpone(
        self,
        claimed: ClaimedEvaluation,
        *,
        until: datetime,
        cause: Cause,
        calls: tuple[JudgeCall, ...] = (),
    ) -> bool:
        """Puts a claimed evaluation back to `waiting`, due at `until`, and keeps the calls of this run.

        Returns:
            False when it does not wait: this claim does not run it any more (and nothing was written), or a
            newer revision has come.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def shed(self, claimed: ClaimedEvaluation, *, cause: Cause) -> bool:
        """Ends a claimed evaluation as `shed`: by way of `waiting`, as if it had not been begun.

        Returns:
            False when this claim does not run it any more, or a newer revision has come.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def warn(self, key: TraceKey, *, revision: int, subject: str, text: str) -> None:
        """Adds the warning "subject: text" to a stored revision, in place of an earlier one of that subject.

        Raises:
            DatabaseLostError: call again.
        """
        ...

    def withdraw(self, key: TraceKey) -> int | None:
        """Supersedes all of a record that turned out to be a part of another one.

        Returns:
            How many score rows it had that counted until now; None where no evaluation of it counted.

        Raises:
            DatabaseLostError: call again.
        """
        ...


class SpanBuffer(Protocol):
    """Where the spans of traces are gathered until a trace can be evaluated."""

    def absorb(
        self, spans: Sequence[Span], *, format_name: str, whole: frozenset[str]
    ) -> list[AbsorbedTrace]:
        """Stores spans of any traces in one transaction; the same span again changes nothing.

        Of two versions of a span the fuller one stays, whichever came first: later end, then more
        attributes, then the greater content. Every change sets anew when the trace is to be closed.

        Args:
            spans: as decoded.
            format_name: of the message.
            whole: ids of the traces of which this delivery holds all: they are due at once.

        Raises:
            DatabaseLostError: nothing was stored, or it is not known; call again.
        """
        ...

    def claim(self, trace_id: str, *, spares_suspects: bool = False) -> ClaimedRecord | None:
        """The spans of a trace that is due, under a lease; None when it is not, or somebody else has it.

        Args:
            trace_id: names it.
            spares_suspects: None also where an earlier claim of it never ended, and nothing is counted.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def is_suspect(self, trace_id: str) -> bool:
        """True when it is due, and an earlier claim of it never ended: it is worked on alone.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def settle(self, claimed: ClaimedRecord, *, admitted: Sequence[AdmittedRecord]) -> bool:
        """Closes a claimed trace; spans that came meanwhile keep it open.

        Of a record that is remembered already, app and time stay; the rest is taken from `admitted`.

        Returns:
            False when the claim is not ours any more, and nothing was written.

        Raises:
            DatabaseLostError: call again.
        """
        ...


class ParkingStore(Protocol):
    """Where messages that could not be worked on are kept."""

    def park(self, envelope: Envelope, *, reason: ParkReason, message: str, where: str) -> bool:
        """Stores a message with the reason; False when the same message is parked for it already.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...


class SuspectStore(Protocol):
    """Counts the starts of messages that may kill the process."""

    def start(self, message_key: str, *, received_at: datetime) -> int:
        """The number of starts so far, this delivery's included, committed before the work begins.

        Args:
            message_key: whose.
            received_at: when this delivery came: asked again for it, as the first answer was lost, it is no
                further start.
        """
        ...

    def clear(self, message_key: str) -> None:
        """Forgets a message that was worked on to its end."""
        ...
