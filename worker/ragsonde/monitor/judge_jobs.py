"""What the monitor does for judges: the rates of each hour, and how much of the budgets is spent."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.budget_forecast import NEARLY_SPENT, measure_spent
from ragsonde.exposition.series import (
    JUDGE_AGREEMENT,
    JUDGE_BUDGET_RATIO,
    JUDGE_BUDGET_WARNING,
    JUDGE_PAUSED,
    JUDGE_SAMPLE_RATE,
)
from ragsonde.judging.options import JudgeKind
from ragsonde.monitor.judge_rates import list_due, plan_rates
from ragsonde.monitor.loop import Job
from ragsonde.storage.judge_agreement import JudgeName, count_agreement
from ragsonde.storage.judge_states import read_paused
from ragsonde.storage.reservations import begin_period
from ragsonde.storage.sample_rates import read_rates, write_rates
from ragsonde.storage.spending import read_spent
from ragsonde.storage.stale_reservations import release_stale_reservations
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.spending import Period
from ragsonde_schemas.stream_labels import judge_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

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
    _warned: dict[tuple[str, Period], datetime] = field(default_factory=dict)

    def build_jobs(self) -> tuple[Job, ...]:
        """All jobs, as the monitor runs them."""
        return (
            Job(name=RATES, interval_seconds=RATE_SECONDS, run=self.set_rates),
            Job(
                name=BUDGETS,
                interval_seconds=BUDGET_SECONDS,
                run=self.show_budgets,
                is_exclusive=False,
                shows=(JUDGE_BUDGET_RATIO, JUDGE_BUDGET_WARNING, JUDGE_SAMPLE_RATE),
            ),
            Job(name=RESERVATIONS, interval_seconds=RESERVATION_SECONDS, run=self.release_reservations),
            Job(
                name=PAUSES,
                interval_seconds=PAUSE_SECONDS,
                run=self.show_pauses,
                is_exclusive=False,
                shows=(JUDGE_PAUSED,),
            ),
            Job(
                name=AGREEMENT,
                interval_seconds=AGREEMENT_SECONDS,
                run=self.show_agreement,
                is_exclusive=False,
                shows=(JUDGE_AGREEMENT,),
            ),
        )

    def set_rates(self) -> None:
        """Writes the rates of this hour, once; those of a judge anew when its configured rate has changed."""
        hour = begin_period(Period.HOUR, now=self.clock.now())
        due = list_due(self.engine, self.judges, hour=hour)
        if not due:
            return
        written = write_rates(
            self.engine, plan_rates(self.engine, due, self.fingerprints, hour=hour), hour=hour
        )
        if written:
            logger.info("sample_rates_set", extra={"rates": written, "hour": hour.isoformat()})

    def show_budgets(self) -> None:
        """Shows how much of each limit is spent or reserved, which are nearly so, and the rates in force."""
        now = self.clock.now()
        ratios: dict[tuple[str, ...], float] = {}
        for options in self.judges:
            for limit in options.budget.limits if options.budget else ():
                spent = read_spent(self.engine, options.name, period=limit.period, now=now)
                ratio = measure_spent(spent, limit)
                ratios[self._label(options), limit.period.value] = ratio
                if ratio >= NEARLY_SPENT:
                    self._warn(options.name, limit.period, ratio=ratio, now=now)
        self.series.replace(JUDGE_BUDGET_RATIO, ratios)
        self.series.replace(
            JUDGE_BUDGET_WARNING, {labels: float(ratio >= NEARLY_SPENT) for labels, ratio in ratios.items()}
        )
        by_name = {options.name: options for options in self.judges}
        rates: dict[tuple[str, ...], float] = {
            (self._label(by_name[judge]), show_app(app)): stored.apply(by_name[judge].sample)
            for (app, judge), stored in read_rates(self.engine, now=now).items()
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

    def _warn(self, judge: str, period: Period, *, ratio: float, now: datetime) -> None:
        """Logs that a budget is nearly spent, once a period."""
        starts_at = begin_period(period, now=now)
        if self._warned.get((judge, period)) == starts_at:
            return
        self._warned[judge, period] = starts_at
        logger.warning(
            "budget_nearly_spent",
            extra={"judge": judge, "period": period.value, "spent_share": round(ratio, 3)},
        )
