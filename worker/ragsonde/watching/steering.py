"""What people decide about alerts and baselines, each wholly or not at all, beside monitors that judge.

Every change holds the lock that judging holds: states, baselines and ends of alerts are read and written by
one at a time, and nobody judges by what is half changed.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from sqlalchemy import text

from ragsonde.regression.accepted_level import move_baseline
from ragsonde.regression.alert_state import StreamState
from ragsonde.storage.alert_steering import close_as_accepted, close_as_false, read_steered
from ragsonde.storage.baselines import StoredBaseline, number_block
from ragsonde.storage.chosen_baselines import (
    choose_baseline,
    list_baselines,
    read_closed_until,
    read_floors,
)
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.locks import give_way_to_migrations, hold_job_lock
from ragsonde.storage.regression_states import JUDGING_LOCK, read_states, write_states
from ragsonde.watching.counted_stretch import read_stretch
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy import Connection, Engine

    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.storage.alert_steering import SteeredAlert
    from ragsonde.storage.regression_states import StoredState


_PATIENT = text(
    "SELECT set_config(name, '120s', true) FROM unnest(ARRAY['lock_timeout', 'statement_timeout']) AS name"
)
"""Judging of many streams may take longer than what usually is waited for."""


class Accepted(NamedTuple):
    """A level that was accepted.

    Attributes:
        baseline: the number of its baseline; None where it was accepted before.
        is_new: False where it was accepted before: nothing was done.
    """

    is_new: bool
    baseline: int | None = None
    fitted: Baseline | None = None


@contextmanager
def steering(engine: Engine) -> Iterator[Connection]:
    """A transaction that has states, baselines and the ends of alerts for itself.

    Raises:
        DatabaseLostError: it is done or not; call again.
        GivenUpError: nothing was done: a migration is under way, or judging takes too long.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(_PATIENT)
        give_way_to_migrations(connection)
        hold_job_lock(connection, JUDGING_LOCK)
        yield connection


def accept_alert(
    engine: Engine, number: int, *, reason: str, options: RegressionOptions, now: datetime
) -> Accepted:
    """Closes an alert as intended: from now on its stream is held to what it scores since the fall.

    Args:
        engine: of this process.
        number: of the alert.
        reason: for whoever reads it later.
        options: of the settings.
        now: of this process's clock.

    Raises:
        InputError: there is no such alert, it is closed, a floor forbids it, or no trace is left.
        DatabaseLostError: it is done or not; call again.
        GivenUpError: nothing was done.
    """
    with steering(engine) as connection:
        alert = require_alert(connection, number)
        if alert.accepted_at is not None:
            return Accepted(is_new=False)
        if alert.closed_at is not None:
            raise InputError(
                f"alert {number}: closed at {alert.closed_at:%Y-%m-%d %H:%M} UTC, expected an open one; "
                "`ragsonde baseline pin` chooses what scores are held to"
            )
        newest = require_state(connection, alert.stream)
        until = require_closed_until(connection)
        since = number_block(alert.since)
        found = read_stretch(connection, alert.stream, since=since, until=until)
        if found.counts is None or not found.traces:
            raise InputError(
                f"alert {number}: no trace is left since {alert.since:%Y-%m-%d %H:%M} UTC, expected some of "
                "the fall; `ragsonde baseline pin` makes a baseline of other days"
            )
        before = list_baselines(connection, number=newest.baseline or alert.baseline, with_past=True)[0]
        fitted = move_baseline(before.stored.baseline, found.counts, smallest_drop=options.smallest_drop)
        _refuse_below_floor(connection, alert, mean=fitted.mean)
        given = StoredBaseline(*(None, alert.stream, since, until, until), fitted, found.failed_share, reason)
        stored = choose_baseline(connection, given, now=now)
        close_as_accepted(connection, number, reason=reason, now=now)
        rest = newest._replace(block=until - 1, baseline=stored.number, state=StreamState(), hold=None)
        write_states(connection, [rest])
        return Accepted(True, stored.number, fitted)


def call_false(engine: Engine, number: int, *, reason: str | None, now: datetime) -> bool:
    """Counts an alert as false; if it is open it is closed and its evidence begins anew, at rest.

    Returns:
        False where it was called false before: nothing was done.

    Raises:
        InputError: there is no such alert, or it was accepted.
        DatabaseLostError: it is done or not; call again.
        GivenUpError: nothing was done.
    """
    with steering(engine) as connection:
        alert = require_alert(connection, number)
        if alert.accepted_at is not None:
            raise InputError(
                f"alert {number}: accepted at {alert.accepted_at:%Y-%m-%d %H:%M} UTC as meant, expected one "
                "that nobody accepted"
            )
        if alert.false_at is not None:
            return False
        close_as_false(connection, number, reason=reason, now=now)
        states = read_states(connection, [alert.stream]).get(alert.stream, ())
        if alert.closed_at is None and states:
            write_states(connection, [states[-1]._replace(state=StreamState())])
        return True


def require_alert(connection: Connection, number: int) -> SteeredAlert:
    """The alert of that number.

    Raises:
        InputError: there is none.
    """
    found = read_steered(connection, number)
    if found is None:
        refuse_unknown_alert(number)
    return found


def refuse_unknown_alert(number: int) -> NoReturn:
    """Says that there is none.

    Raises:
        InputError: always.
    """
    raise InputError(f"alert {number}: there is none; `ragsonde alerts list` shows them")


def require_state(connection: Connection, stream: int) -> StoredState:
    """What is remembered last of a stream.

    Raises:
        InputError: it was never judged.
    """
    states = read_states(connection, [stream]).get(stream, ())
    if not states:
        raise InputError("the stream of this alert was never judged: is the monitor running?")
    return states[-1]


def require_closed_until(connection: Connection) -> int:
    """The first block that is not closed.

    Raises:
        InputError: none was closed yet.
    """
    found = read_closed_until(connection)
    if found is None:
        raise InputError("no scores are counted yet: is the monitor running?")
    return number_block(found)


def _refuse_below_floor(connection: Connection, alert: SteeredAlert, *, mean: float) -> None:
    floor = read_floors(connection, [alert.stream]).get(alert.stream)
    if floor is not None and mean < floor.mean:
        raise InputError(
            f"alert {alert.number}: scores {mean:.3f} on average, which the floor {floor.mean:.3f} "
            f"(baseline {floor.number}) forbids: it would be told again; set a lower one, or first "
            f"`ragsonde baseline drop {floor.number}`"
        )
