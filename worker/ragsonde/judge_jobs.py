"""What the monitor does for judges: the rates of each hour, and how much of the budgets is spent."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.exposition.labels import judge_label
from ragsonde.exposition.series import JUDGE_AGREEMENT, JUDGE_BUDGET_RATIO, JUDGE_PAUSED, JUDGE_SAMPLE_RATE
from ragsonde.judging.options import JudgeKind
from ragsonde.monitor import Job
from ragsonde.sampling import choose_rate, foresee_share, foresee_traces, measure_spent
from ragsonde.storage.judge_agreement import JudgeName, count_agreement
from ragsonde.storage.judge_states import read_paused
from ragsonde.storage.reservations import begin_period
from ragsonde.storage.sample_rates import HourlyRate, count_looked_at, read_profile, read_rates, write_rates
from ragsonde.storage.spending import read_spent, write_profile
from ragsonde.storage.stale_reservations import release_stale_reservations
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.spending import Period

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

RATES, BUDGETS, RESERVATIONS = "rates", "budgets", "reservations"
PAUSES, AGREEMENT = "pauses", "agreement"
JUDGE_JOB_NAMES = (RATES, BUDGETS, RESERVATIONS, PAUSES, AGREEMENT)
RATE_SECONDS = 60.0
BUDGET_SECONDS = 15.0
PAUSE_SECONDS = 15.0
RESERVATION_SECONDS = 60.0
RESERVATIONS_AT_ONCE = 500
AGREEMENT_SECONDS = 60.0
HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class JudgeChores:
    """The jobs' work, with what it needs.

    Attributes:
        judges: as configured.
        fingerprints: of each, by name.
    """

    engine: Engine
    judges: Sequence[JudgeOptions]
    fingerprints: Mapping[str, str]
    series: Series
    clock: Clock

    def build_jobs(self) -> tuple[Job, ...]:
        """All jobs, as the monitor runs them."""
        return (
            Job(name=RATES, interval_seconds=RATE_SECONDS, run=self.set_rates),
            Job(name=BUDGETS, interval_seconds=BUDGET_SECONDS, run=self.show_budgets, is_exclusive=False),
            Job(name=RESERVATIONS, interval_seconds=RESERVATION_SECONDS, run=self.release_reservations),
            Job(name=PAUSES, interval_seconds=PAUSE_SECONDS, run=self.show_pauses, is_exclusive=False),
            Job(
                name=AGREEMENT,
                interval_seconds=AGREEMENT_SECONDS,
                run=self.show_agreement,
                is_exclusive=False,
            ),
        )

    def set_rates(self) -> None:
        """Writes the rates of this hour for every app and judge that had traces in the last one, once.

        A floor raises a rate, a budget that would not last lowers it.
        """
        hour = begin_period(Period.HOUR, now=self.clock.now())
        if any(starts_at == hour for starts_at, _ in read_rates(self.engine, now=hour).values()):
            return
        counts = count_looked_at(self.engine, since=hour - HOUR, until=hour)
        rates: list[HourlyRate] = []
        for options in self.judges:
            of_apps = {app: count for (app, judge), count in counts.items() if judge == options.name}
            share = self._find_affordable(options, sum(of_apps.values()))
            for app, count in of_apps.items():
                rate = choose_rate(
                    options.sample, floor=options.min_per_hour, last_hour=count, affordable_share=share
                )
                rates.append(
                    HourlyRate(app, options.name, rate.value, options.sample, rate.cause.value, count)
                )
        written = write_rates(self.engine, rates, hour=hour)
        if written:
            logger.info("sample_rates_set", extra={"rates": written, "hour": hour.isoformat()})

    def show_budgets(self) -> None:
        """Shows how much of each limit is spent or reserved, and the rates in force."""
        now = self.clock.now()
        ratios: dict[tuple[str, ...], float] = {}
        rates: dict[tuple[str, ...], float]
        for options in self.judges:
            label = self._label(options)
            for limit in options.budget.limits if options.budget else ():
                spent = read_spent(self.engine, options.name, period=limit.period, now=now)
                ratios[label, limit.period.value] = measure_spent(spent, limit)
        self.series.replace(JUDGE_BUDGET_RATIO, ratios)
        by_name = {options.name: self._label(options) for options in self.judges}
        rates = {
            (by_name[judge], show_app(app)): rate
            for (app, judge), (_, rate) in read_rates(self.engine, now=now).items()
            if judge in by_name
        }
        self.series.replace(JUDGE_SAMPLE_RATE, rates, weights=dict.fromkeys(rates, 1.0))

    def release_reservations(self) -> None:
        """Gives back what runs hold of a budget that nobody will end any more."""
        released = release_stale_reservations(self.engine, now=self.clock.now(), limit=RESERVATIONS_AT_ONCE)
        if released:
            logger.warning("reservations_released", extra={"reservations": released})

    def show_pauses(self) -> None:
        """Shows for each judge whether it is paused."""
        paused = read_paused(self.engine)
        self.series.replace(
            JUDGE_PAUSED,
            {
                (self._label(options),): float((options.name, self.fingerprints[options.name]) in paused)
                for options in self.judges
            },
        )

    def show_agreement(self) -> None:
        """Shows how far each judge agrees with the lexical ones about the last hour's contexts.

        No text can talk a lexical judge round: one that obeys texts parts from it where they are suspected.
        """
        since = self.clock.now() - HOUR
        lexical = [options for options in self.judges if options.kind == JudgeKind.LEXICAL]
        ratios: dict[tuple[str, ...], float] = {}
        contexts: dict[tuple[str, ...], float] = {}
        for options in self.judges:
            for other in lexical if options.kind != JudgeKind.LEXICAL else ():
                counts = count_agreement(
                    self.engine, self._name(options), against=self._name(other), since=since
                )
                for (app, is_suspected), agreement in counts.items():
                    suspected = "yes" if is_suspected else "no"
                    key = (self._label(options), self._label(other), show_app(app), suspected)
                    ratios[key] = agreement.alike / agreement.contexts
                    contexts[key] = agreement.contexts
        self.series.replace(JUDGE_AGREEMENT, ratios, weights=contexts)

    def _name(self, options: JudgeOptions) -> JudgeName:
        return JudgeName(options.name, self.fingerprints[options.name])

    def _label(self, options: JudgeOptions) -> str:
        return judge_label(options.name, self.fingerprints[options.name])

    def _find_affordable(self, options: JudgeOptions, last_hour: int) -> float | None:
        """Which share of what would be spent until midnight (UTC) the day's limits can pay; None: not known.

        What is to come is guessed from the last hour and the profile of the week, at what an evaluation has
        cost today.
        """
        daily = [
            limit for limit in (options.budget.limits if options.budget else ()) if limit.period is Period.DAY
        ]
        if not daily:
            return None
        now = self.clock.now()
        shares = read_profile(self.engine, options.name, now=now)
        if shares is not None:
            write_profile(self.engine, options.name, self.fingerprints[options.name], shares=shares)
        spent = read_spent(self.engine, options.name, period=Period.DAY, now=now)
        to_come = foresee_traces(last_hour, shares, hour=now.hour) * options.sample
        return min((foresee_share(spent, limit, runs=to_come) for limit in daily), default=None)
