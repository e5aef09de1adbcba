"""The rates of an hour: what a floor raises, what a budget that would not last lowers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.budget_forecast import foresee_runs, foresee_share
from ragsonde.sampling import choose_rate
from ragsonde.storage.sample_rates import (
    HourlyRate,
    count_looked_at,
    read_last_counts,
    read_profile,
    read_rates,
)
from ragsonde.storage.spending import read_spent, write_profile
from ragsonde_schemas.spending import Period

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.judging.options import JudgeOptions

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def list_due(engine: Engine, judges: Sequence[JudgeOptions], *, hour: datetime) -> list[JudgeOptions]:
    """The judges whose rates of this hour are still to be written, or were for another configured rate.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    written = {
        key: stored for key, stored in read_rates(engine, now=hour).items() if stored.starts_at == hour
    }
    outdated = {
        options.name
        for options in judges
        for (_, judge), stored in written.items()
        if judge == options.name and stored.configured != options.sample
    }
    return [options for options in judges if not written or options.name in outdated]


def plan_rates(
    engine: Engine, judges: Sequence[JudgeOptions], fingerprints: Mapping[str, str], *, hour: datetime
) -> list[HourlyRate]:
    """The rates of the hour for each app that a judge might have looked at in the last day.

    A floor counts on as many traces as came in the last hour that had any: after a quiet night the first hour
    of the morning is not judged in full.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    counts = count_looked_at(engine, since=hour - HOUR, until=hour)
    expected = {**read_last_counts(engine, since=hour - DAY), **counts}
    rates: list[HourlyRate] = []
    for options in judges:
        of_apps = {app: count for (app, judge), count in expected.items() if judge == options.name}
        in_full = {
            app: choose_rate(options.sample, floor=options.min_per_hour, last_hour=count).value
            for app, count in of_apps.items()
        }
        runs = sum(counts.get((app, options.name), 0) * rate for app, rate in in_full.items())
        share = _find_affordable(engine, options, fingerprints[options.name], last_hour=runs, hour=hour)
        for app, count in of_apps.items():
            rate = choose_rate(
                options.sample, floor=options.min_per_hour, last_hour=count, affordable_share=share
            )
            traces = counts.get((app, options.name), 0)
            rates.append(HourlyRate(app, options.name, rate.value, options.sample, rate.cause.value, traces))
    return rates


def _find_affordable(
    engine: Engine, options: JudgeOptions, fingerprint: str, *, last_hour: float, hour: datetime
) -> float | None:
    """Which share of what would be spent until its limits begin anew they can pay; None: it has none.

    What is to come is guessed from the last hour and the profile of the week, at what an evaluation has cost
    today, or yesterday where nothing was spent today.
    """
    if options.budget is None or not options.budget.limits:
        return None
    shares = read_profile(engine, options.name, now=hour)
    if shares is not None:
        write_profile(engine, options.name, fingerprint, shares=shares)
    today = read_spent(engine, options.name, period=Period.DAY, now=hour)
    known = today if today.runs else read_spent(engine, options.name, period=Period.DAY, now=hour - DAY)
    return min(
        foresee_share(
            limit,
            spent=read_spent(engine, options.name, period=limit.period, now=hour),
            known=known,
            runs=foresee_runs(last_hour, shares, hour=hour.hour, period=limit.period),
        )
        for limit in options.budget.limits
    )
