"""What all workers share about judges: state, money, rates, and what shows whether one has moved."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, false, text
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION
from sqlalchemy.orm import Mapped, mapped_column

from ragsonde.storage.metadata import Tables


class JudgeStateRow(Tables):
    """Where a judge stands, by name and fingerprint.

    Attributes:
        epoch: counts the models that have answered, from 1.
        answered_model: of this epoch.
        paused_until: a probe may be made after this; who makes it moves it on first.
        hour_shares: of a day's evaluations, by hour of the day (UTC), 24 numbers that sum to 1.
    """

    __tablename__ = "judge_state"

    judge: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    epoch: Mapped[int] = mapped_column(server_default="1")
    epoch_since: Mapped[datetime | None]
    answered_model: Mapped[str | None]
    paused_since: Mapped[datetime | None]
    paused_until: Mapped[datetime | None]
    pause_message: Mapped[str | None]
    hour_shares: Mapped[list[float] | None] = mapped_column(ARRAY(DOUBLE_PRECISION))


class JudgeSpendRow(Tables):
    """What a judge with a budget has spent in an hour or a day (UTC), and what is reserved for running work.

    Attributes:
        period: `hour` or `day`.
        runs: evaluations that were settled with at least one call.
        unpriced_calls: answered calls whose cost is not known, so not in `spent_usd`.
    """

    __tablename__ = "judge_spend"

    judge: Mapped[str] = mapped_column(primary_key=True)
    period: Mapped[str] = mapped_column(primary_key=True)
    starts_at: Mapped[datetime] = mapped_column(primary_key=True)
    runs: Mapped[int] = mapped_column(BigInteger, server_default="0")
    spent_calls: Mapped[int] = mapped_column(BigInteger, server_default="0")
    spent_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    spent_usd: Mapped[float] = mapped_column(server_default="0")
    unpriced_calls: Mapped[int] = mapped_column(BigInteger, server_default="0")
    reserved_calls: Mapped[int] = mapped_column(BigInteger, server_default="0")
    reserved_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    reserved_usd: Mapped[float] = mapped_column(server_default="0")


class SampleRateRow(Tables):
    """The rate at which a judge looks at an app's traces in the hour that begins at `starts_at`.

    Attributes:
        app: '' where unknown.
        rate: in force, 0..1.
        configured: by the settings.
        cause: why they differ: `configured`, `floor` or `budget`.
        traces: of the app that the judge might have looked at in the hour before.
    """

    __tablename__ = "sample_rate"

    app: Mapped[str] = mapped_column(primary_key=True)
    judge: Mapped[str] = mapped_column(primary_key=True)
    starts_at: Mapped[datetime] = mapped_column(primary_key=True)
    rate: Mapped[float]
    configured: Mapped[float]
    cause: Mapped[str]
    traces: Mapped[int] = mapped_column(BigInteger)


class CheckTraceRow(Tables):
    """A recorded trace of the check set, with its texts: it outlives the retention of what it was taken from.

    Attributes:
        trace: as JSON, without what names people; emptied when it leaves the set.
        user_id, session_id: as in `trace`, null where unknown: by them it is found to be erased.
    """

    __tablename__ = "check_set"
    __table_args__ = (
        Index("uq_check_set_content", "app", "content_hash", unique=True, postgresql_where=text("is_active")),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    app: Mapped[str]
    trace_id: Mapped[str]
    content_hash: Mapped[str]
    chosen_at: Mapped[datetime]
    is_active: Mapped[bool]
    trace: Mapped[dict[str, Any]]
    user_id: Mapped[str | None]
    session_id: Mapped[str | None]


class CheckResultRow(Tables):
    """What a judge makes of a check trace on one day: opened by the monitor, run by a worker.

    Attributes:
        judged_at: null until it is done.
        due_at: it is published again after this, until it is done or the day is over.
        starts: how often it was claimed; names the claim that may end it.
        unfinished_starts: claims since a run last ended in a transaction.
        answered_fingerprint: of the fallback that answered; null = the judge's own.
        cause: why there is no number at all.
        scores: by scorer: version, and raw or status and cause; null once it is too old to be shown.
        is_reference: it holds the judge's first number by some scorer and version: drift is measured from it.
        calls: of all runs, as in `evaluation`; so are tokens_in, tokens_out, cost_usd.
        reserved_calls, reserved_tokens, reserved_usd: what its run holds of its judge's budget since
            `reserved_at`; all null where it holds nothing.
    """

    __tablename__ = "check_result"

    check_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("check_set.id", ondelete="CASCADE"), primary_key=True
    )
    judge: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    due_at: Mapped[datetime]
    starts: Mapped[int] = mapped_column(server_default="0")
    unfinished_starts: Mapped[int] = mapped_column(server_default="0")
    lease_until: Mapped[datetime | None]
    judged_at: Mapped[datetime | None]
    epoch: Mapped[int] = mapped_column(server_default="1")
    answered_model: Mapped[str | None]
    answered_fingerprint: Mapped[str | None]
    cause: Mapped[str | None]
    verdicts: Mapped[dict[str, Any] | None]
    scores: Mapped[dict[str, Any] | None]
    is_reference: Mapped[bool] = mapped_column(server_default=false())
    calls: Mapped[int | None]
    tokens_in: Mapped[int | None]
    tokens_out: Mapped[int | None]
    cost_usd: Mapped[float | None]
    reserved_calls: Mapped[int | None]
    reserved_tokens: Mapped[int | None] = mapped_column(BigInteger)
    reserved_usd: Mapped[float | None]
    reserved_at: Mapped[datetime | None]


class JudgeEpochRow(Tables):
    """A model that has answered under a fingerprint, and the number of its epoch; it keeps it for ever."""

    __tablename__ = "judge_epoch"

    judge: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    answered_model: Mapped[str] = mapped_column(primary_key=True)
    epoch: Mapped[int]
    first_since: Mapped[datetime]


class JudgeAnswersRow(Tables):
    """How often each model answered in the ten minutes from `starts_at`, kept for a day.

    Attributes:
        answers: a list of judge, fingerprint, answered_model and answers; [] where none answered.
    """

    __tablename__ = "judge_answers"

    starts_at: Mapped[datetime] = mapped_column(primary_key=True)
    answers: Mapped[list[Any]]
