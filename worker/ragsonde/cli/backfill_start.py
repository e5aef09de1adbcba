"""Starting a backfill: what it would do and cost, told before it is done."""

from __future__ import annotations

import getpass
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ragsonde.api.backfills import foresee, narrow, start_backfill
from ragsonde.bootstrap.assignments import build_assignments
from ragsonde.cli.meant_evaluations import refuse_unknown
from ragsonde.cli.terminal import count_traces, track
from ragsonde.judging.table import build_judges
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import load_judge_kinds
from ragsonde.scoring.outcomes import needed_aspects
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.backfill_candidates import list_days
from ragsonde.storage.backfill_estimates import read_traces, read_usual
from ragsonde_schemas.backfill import BackfillRequest
from ragsonde_schemas.errors import Cause, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Engine

    from ragsonde.api.backfills import Foreseen
    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.ports import PaidJudge
    from ragsonde.settings import Settings

DEFAULT_DAYS = 7
_FEW = 1.5
"""Of a larger unit; below it the smaller one is told."""
USUAL_SPAN = timedelta(days=7)


class Costs(NamedTuple):
    """What a backfill asks of its judge's provider.

    Attributes:
        calls, tokens, cost_usd: cost None where no price is known.
    """

    calls: int
    tokens: int
    cost_usd: float | None


class Kind(NamedTuple):
    """Which evaluations are run once more; of none where all is at its default, as in a request."""

    only_failed: bool
    cause: Cause | None
    scorer: str | None


class Forecast(NamedTuple):
    """What a backfill would do.

    Attributes:
        evaluations: so many.
        seconds: at its rate, where nothing holds it up.
        usually: by what the judge's evaluations have cost lately; None where nothing is known of that.
        at_most: by the worst case of some of the traces; None for a free judge.
    """

    foreseen: Foreseen
    evaluations: int
    seconds: float
    usually: Costs | None
    at_most: Costs | None


def read_assignments(settings: Settings) -> Mapping[str, Assignment]:
    """The judges of the settings with their scorers, by name.

    Raises:
        ConfigError: a scorer or a judge is configured wrong.
    """
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    judges = build_judges(settings.judges, scorers=scorers, added=load_judge_kinds())
    return build_assignments(settings, scorers=scorers, judges=judges)


def choose_assignment(judge: str | None, *, assignments: Mapping[str, Assignment]) -> Assignment:
    """The judge that was named; without a name the only one there is.

    Raises:
        InputError: there is no such judge, or which one is meant is not clear.
    """
    if judge is None:
        if len(assignments) > 1:
            raise InputError(f"--judge is missing: expected one of {', '.join(sorted(assignments))}")
        return next(iter(assignments.values()))
    refuse_unknown("--judge", judge, known=assignments, what="no judge of the settings")
    return assignments[judge]


def choose_kind(*, failed: bool, cause: str | None, scorer: str | None, assignment: Assignment) -> Kind:
    """Which evaluations are run once more.

    Raises:
        InputError: the options do not go together, or name a cause or scorer that there is not.
    """
    if failed and scorer is not None:
        raise InputError("--failed and --scorer: expected one of them; what failed is judged for all scorers")
    if cause is not None and not failed:
        raise InputError("--cause: expected --failed with it")
    if cause is not None:
        refuse_unknown("--cause", cause, known=[one.value for one in Cause], what="no cause of a failure")
    if scorer is not None:
        known = [one.instance for one in assignment.scorers]
        refuse_unknown("--scorer", scorer, known=known, what=f"no scorer of judge {assignment.judge.name}")
    return Kind(failed, None if cause is None else Cause(cause), scorer)


def choose_range(since: date | None, until: date | None, *, today: date) -> tuple[date, date]:
    """First and last day; without a first one the seven days that end with the last.

    Raises:
        InputError: the last is before the first.
    """
    last = until or today
    first = since or last - timedelta(days=DEFAULT_DAYS - 1)
    if last < first:
        raise InputError(f"--until {last}: is before --since {first}")
    return first, last


def look_through(engine: Engine, request: BackfillRequest, *, assignment: Assignment) -> Foreseen:
    """What a backfill would do, with a bar while the range is looked through.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    days = sum(request.since <= day <= request.until for day in list_days(engine))
    steps = foresee(engine, request, assignment=assignment)
    return list(track(steps, total=max(1, days), description="looking at stored traces"))[-1]


def forecast(
    engine: Engine, request: BackfillRequest, foreseen: Foreseen, *, assignment: Assignment, now: datetime
) -> Forecast:
    """What it would take: time at its rate, calls, tokens, dollars.

    Raises:
        InputError: `--usd` is given and the price of the judge's model is not known.
        DatabaseLostError: Postgres is away.
    """
    count = min(foreseen.evaluations, request.most_traces or foreseen.evaluations)
    seconds = count / request.rate_per_second
    if assignment.judge.is_free:
        return Forecast(foreseen, count, seconds, None, None)
    if request.scorer is not None:
        own = tuple(one for one in assignment.scorers if one.instance == request.scorer)
        assignment = replace(assignment, scorers=own)
    at_most = _estimate(engine, foreseen, count=count, assignment=assignment)
    if request.most_usd is not None and at_most is not None and at_most.cost_usd is None:
        raise InputError(
            f"--usd: the price of judge {request.judge} is not known, so nothing could be counted: set "
            "`prices` in the settings, or give --calls"
        )
    usual = read_usual(engine, request.judge or "", since=now - USUAL_SPAN)
    usually = None
    if usual.evaluations and request.scorer is None:  # these were asked for all scorers
        share = count / usual.evaluations
        cost = None if usual.cost_usd is None else usual.cost_usd * share
        usually = Costs(round(usual.calls * share), round(usual.tokens * share), cost)
    return Forecast(foreseen, count, seconds, usually, at_most)


def _estimate(engine: Engine, foreseen: Foreseen, *, count: int, assignment: Assignment) -> Costs | None:
    judge = cast("PaidJudge", assignment.judge)
    traces = read_traces(engine, foreseen.examples)
    worst = [judge.estimate(trace, needed_aspects(assignment.scorers, trace)) for trace in traces]
    if not worst:
        return None
    share = count / len(worst)
    prices = [one.cost_usd for one in worst]
    known = [price for price in prices if price is not None]
    return Costs(
        round(sum(one.calls for one in worst) * share),
        round(sum(one.tokens for one in worst) * share),
        sum(known) * share if len(known) == len(prices) else None,
    )


def begin(engine: Engine, request: BackfillRequest, foreseen: Foreseen) -> int:
    """The number of the backfill that was started.

    Raises:
        DatabaseLostError: it may be started or not.
    """
    return start_backfill(
        engine,
        narrow(request, foreseen),
        foreseen=foreseen,
        now=datetime.now(UTC),
        created_by=find_user(),
    )


def find_user() -> str | None:
    """Who runs the command; None where the system does not tell."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


def tell_forecast(told: Forecast, request: BackfillRequest) -> list[str]:
    """What would be done, a sentence a line."""
    foreseen = told.foreseen
    looked_at = f"{count_traces(foreseen.looked_at)} of {request.since} to {request.until} looked at"
    lines = [f"{looked_at}; {told.evaluations} {describe_kind(request)}"]
    if foreseen.without_texts:
        lines.append(f"{count_traces(foreseen.without_texts)} would too, but their texts are gone")
    lines.append(f"at {request.rate_per_second:g} a second: {show_span(told.seconds)} at least")
    if told.usually is not None:
        lines.append(f"usually: {_show_costs(told.usually)}")
    if told.at_most is not None:
        lines.append(f"worst case: {_show_costs(told.at_most)}; what was judged already costs nothing")
    return lines


def describe_kind(request: BackfillRequest) -> str:
    """What is done with them, after their number."""
    if request.only_failed:
        cause = "" if request.cause is None else f" with {request.cause}"
        return f"for which judge {request.judge} failed{cause} would be judged once more"
    if request.scorer is not None:
        return f"judged by {request.judge} without {request.scorer} would get its score"
    return f"without an evaluation of judge {request.judge} would get one"


def describe_forecast(told: Forecast, request: BackfillRequest) -> dict[str, Any]:
    """The same for scripts."""
    return {
        "request": request.model_dump(mode="json"),
        "looked_at": told.foreseen.looked_at,
        "evaluations": told.evaluations,
        "without_texts": told.foreseen.without_texts,
        "seconds": told.seconds,
        "usually": told.usually and told.usually._asdict(),
        "at_most": told.at_most and told.at_most._asdict(),
    }


def show_span(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 hours`."""
    minutes = seconds / 60
    if minutes < _FEW:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min" if minutes < 60 * _FEW else f"{minutes / 60:.1f} hours"


def _show_costs(costs: Costs) -> str:
    price = "price not known" if costs.cost_usd is None else f"{costs.cost_usd:.2f} usd"
    return f"{costs.calls} calls, {costs.tokens} tokens, {price}"
