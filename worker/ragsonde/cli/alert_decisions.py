"""What people decide about alerts by command, and what they are told of it.

When it was decided is by the clock of Postgres: by one that is ahead a stream would be blind until then.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ragsonde.cli.alert_table import count_budget, describe_budget, name_stream, tell_budget
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.terminal import count_traces, make_console, show, write_json
from ragsonde.regression.baseline import LEAST_PINNED, BaselineKind
from ragsonde.regression.block_closing import LEAST_GRACE
from ragsonde.regression.verification import Recovery
from ragsonde.storage.alert_steering import ack_alert
from ragsonde.storage.baselines import number_block
from ragsonde.storage.database_clock import read_database_time
from ragsonde.storage.told_alerts import find_alert
from ragsonde.watching import steering
from ragsonde.watching.verification import verify_alert
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.score_stream import BLOCK, block_at

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.watching.verification import VerifiedAlert
    from ragsonde_schemas.watched_fall import Fall

EXIT_CODES = {
    Recovery.RECOVERED: ExitCode.OK,
    Recovery.NOT_YET: ExitCode.BELOW,
    Recovery.TOO_FEW: ExitCode.UNDECIDED,
}


def ack(engine: Engine, number: int, *, as_json: bool) -> None:
    """Notes that an alert is known.

    Raises:
        InputError: there is no such alert, or it is closed.
        DatabaseLostError: it is done or not; call again.
    """
    is_new = ack_alert(engine, number, now=read_database_time(engine))
    alert = _require(engine, number)
    if not is_new and alert.acked_at is None:
        raise InputError(
            f"alert {number}: closed at {alert.closed_at:%Y-%m-%d %H:%M} UTC, expected an open one"
        )
    _tell(
        {"alert": number, "acked_at": alert.acked_at, "is_new": is_new},
        f"alert {number} is known{'' if is_new else ' already'}: nobody is told again, the evidence runs on",
        as_json=as_json,
    )


def accept(engine: Engine, number: int, *, reason: str, options: RegressionOptions, as_json: bool) -> None:
    """Accepts the level of an alert.

    Raises:
        InputError: as `accept_alert`.
        DatabaseLostError: it is done or not; call again.
        GivenUpError: nothing was done.
    """
    done = steering.accept_alert(
        engine, number, reason=reason.strip(), options=options, now=read_database_time(engine)
    )
    told: dict[str, Any] = {"alert": number, "is_new": done.is_new, "baseline": done.baseline}
    words = f"alert {number} was accepted before: nothing is changed"
    if done.fitted is not None:
        told |= _describe_fitted(done.fitted)
        held_to = f"Baseline {done.baseline} holds: {_tell_fitted(done.fitted)}"
        words = f"alert {number} is closed as intended. {held_to}"
    _tell(told, words, as_json=as_json)


def call_false(
    engine: Engine, number: int, *, reason: str | None, options: RegressionOptions, as_json: bool
) -> None:
    """Calls an alert false, and says how many are.

    Raises:
        InputError: as `call_false`.
        DatabaseLostError: it is done or not; call again.
        GivenUpError: nothing was done.
    """
    now = read_database_time(engine)
    is_new = steering.call_false(engine, number, reason=reason, now=now)
    budget = count_budget(engine, options, now=now)
    words = (
        "is counted as false and closed; its evidence begins anew" if is_new else "was called false before"
    )
    _tell(
        {"alert": number, "is_new": is_new, **describe_budget(budget)},
        f"alert {number} {words}\n{tell_budget(budget)}",
        as_json=as_json,
    )


def verify(engine: Engine, number: int, *, since: datetime | None, as_json: bool) -> ExitCode:
    """Says whether the fall of an alert is over.

    Raises:
        InputError: there is no such alert, or `since` is before its fall.
        DatabaseLostError: Postgres is away.
    """
    alert = _require(engine, number)
    if since is not None and since < alert.since:
        raise InputError(
            f"--since {since:%Y-%m-%d %H:%M}: the fall of alert {number} began at "
            f"{alert.since:%Y-%m-%d %H:%M} UTC, and traces before it scored as usual; expected a later time: "
            "that of the repair"
        )
    since = since or _find_since(alert)
    looked = verify_alert(engine, number, since=since)
    found = looked.found
    told = {
        "alert": number,
        "verdict": found.recovery.value,
        "since": looked.since.isoformat(),
        "until": looked.until.isoformat(),
        "baseline": looked.baseline.stored.number,
        "baseline_mean": round(looked.baseline_mean, 4),
        "n": found.traces,
        "traces_needed": found.traces_needed,
        **{
            name: None if getattr(found, name) is None else round(getattr(found, name), 4)
            for name in ("mean", "mean_lower", "mean_upper", "drop", "drop_lower", "drop_upper")
        },
    }
    is_early = looked.since == looked.until
    words = _tell_early(alert, looked, since=since) if is_early else _tell_verified(alert, looked)
    _tell(told, words, as_json=as_json)
    return EXIT_CODES[found.recovery]


def _require(engine: Engine, number: int) -> Fall:
    found = find_alert(engine, number)
    if found is None:
        steering.refuse_unknown_alert(number)
    return found


def _find_since(alert: Fall) -> datetime:
    """A moment that stays the same however often it is asked, and was not chosen by the scores after it."""
    return alert.acked_at or alert.paged_at or alert.opened_at


def _tell_early(alert: Fall, looked: VerifiedAlert, *, since: datetime) -> str:
    """Nothing is closed since then; when the first whole block will be."""
    begin = block_at(number_block(since + BLOCK - timedelta(microseconds=1)))
    return (
        f"{name_stream(alert.stream)}\n"
        f"no five minutes that began since {since:%Y-%m-%d %H:%M} are closed yet: scores are counted up to "
        f"{looked.until:%Y-%m-%d %H:%M} UTC; ask again after {begin + BLOCK + LEAST_GRACE:%Y-%m-%d %H:%M} UTC"
    )


def _tell_verified(alert: Fall, looked: VerifiedAlert) -> str:
    found = looked.found
    stretch = f"since {looked.since:%Y-%m-%d %H:%M}, up to {looked.until:%Y-%m-%d %H:%M} UTC"
    lines = [name_stream(alert.stream)]
    if found.mean is None:
        lines.append(f"no trace {stretch}")
    else:
        lines.append(
            f"mean {found.mean:.3f} ({found.mean_lower:.3f} to {found.mean_upper:.3f}) of "
            f"{count_traces(found.traces)} {stretch}; it was {looked.baseline_mean:.3f}"
        )
        lines.append(
            f"traces of the same kind score {found.drop:.3f} lower ({found.drop_lower:.3f} to "
            f"{found.drop_upper:.3f})"
        )
    lines.append(_tell_recovery(looked))
    return "\n".join(lines)


def _tell_recovery(looked: VerifiedAlert) -> str:
    found = looked.found
    if found.recovery is Recovery.RECOVERED:
        return "recovered: as before, but for less than the smallest drop that matters"
    if found.recovery is Recovery.NOT_YET:
        return "not yet: still lower than before"
    needed = found.traces_needed
    more = (
        "how many more are needed is not known yet" if needed is None else f"about {needed:,} more are needed"
    )
    return f"too few traces to say: {more}"


def _describe_fitted(fitted: Baseline) -> dict[str, Any]:
    visible = fitted.smallest_visible_drop
    return {
        "kind": fitted.kind.value,
        "mean": round(fitted.mean, 4),
        "n": fitted.trace_count,
        "smallest_visible_drop": None if visible is None else round(visible, 4),
    }


def _tell_fitted(fitted: Baseline) -> str:
    visible = fitted.smallest_visible_drop
    seen = (
        "there is no room below it, so no further fall can be seen"
        if visible is None
        else f"falls by more than {visible:.3f} are seen from now on"
    )
    told = f"mean {fitted.mean:.3f} of {count_traces(fitted.trace_count)} since the fall; {seen}"
    if fitted.kind is BaselineKind.PROVISIONAL:
        told += f"; it only warns until there are {LEAST_PINNED} traces, and is made again then, by itself"
    return told


def _tell(told: dict[str, Any], words: str, *, as_json: bool) -> None:
    if as_json:
        write_json(told)
    else:
        make_console().print(show(words))
