"""What the monitor does to see whether a judge has moved: epochs, the check set, and how far it drifted."""

from __future__ import annotations

import logging
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.exposition.series import JUDGE_CHECK_AGE, JUDGE_DRIFT, JUDGE_DRIFT_STDERR, JUDGE_EPOCH
from ragsonde.monitor.loop import Job
from ragsonde.pipeline.checking import measure_drift
from ragsonde.storage.check_runs import open_checks, take_due_checks
from ragsonde.storage.check_traces import (
    drop_old_results,
    list_checks,
    read_check_moments,
    read_check_scores,
)
from ragsonde.storage.judge_epochs import count_answers, read_epochs, turn_epoch
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.monitor.chores import Broker
    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

EPOCHS, CHECKS, DRIFT, CHECK_RETENTION = "epochs", "checks", "drift", "check_retention"
CHECK_JOB_NAMES = (EPOCHS, CHECKS, DRIFT, CHECK_RETENTION)
EPOCH_SECONDS = 600.0
CHECK_SECONDS = 15.0
DRIFT_SECONDS = 60.0
RETENTION_SECONDS = 3600.0
ANSWERS_SPAN = timedelta(days=1)
FEWEST_ANSWERS = 20
"""Of a day; below it no epoch ends."""
MAJORITY = 2 / 3
"""Of a day's answers: while two models share them, the epoch stays what it is."""
FRESH = timedelta(days=1)
"""A drift is shown of results of today and yesterday: soon after midnight, today has few."""
BATCH = 200


@dataclass(frozen=True, kw_only=True)
class CheckChores:
    """The jobs' work, with what it needs.

    Attributes:
        judges: as configured.
        fingerprints: of each, by name.
        paid: names of those that are not free: a free one gives the same verdicts for ever.
        broker: a connection of its own, as it publishes.
        queued_for_seconds: after which a published and not yet claimed check is published again.
    """

    engine: Engine
    judges: Sequence[JudgeOptions]
    fingerprints: Mapping[str, str]
    paid: frozenset[str]
    broker: Broker
    queued_for_seconds: int
    series: Series
    clock: Clock

    def build_jobs(self) -> tuple[Job, ...]:
        """All jobs, as the monitor runs them."""
        return (
            Job(name=EPOCHS, interval_seconds=EPOCH_SECONDS, run=self.turn_epochs),
            Job(name=CHECKS, interval_seconds=CHECK_SECONDS, run=self.publish_checks),
            Job(
                name=DRIFT,
                interval_seconds=DRIFT_SECONDS,
                run=self.show_drift,
                is_exclusive=False,
                shows=(JUDGE_EPOCH, JUDGE_DRIFT, JUDGE_DRIFT_STDERR, JUDGE_CHECK_AGE),
            ),
            Job(name=CHECK_RETENTION, interval_seconds=RETENTION_SECONDS, run=self.drop_old),
        )

    def turn_epochs(self) -> None:
        """Begins an epoch where another model than the epoch's has given most of the last day's answers.

        Most are two thirds of at least 20. The first model needs only to be the commonest.
        """
        now = self.clock.now()
        counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for judge, fingerprint, model, answers in count_answers(
            self.engine, since=now - ANSWERS_SPAN, now=now
        ):
            counts[judge, fingerprint][model] = answers
        epochs = read_epochs(self.engine)
        for key, by_model in sorted(counts.items()):
            known = epochs.get(key)
            before = known.answered_model if known else None
            chosen = choose_model(by_model, before=before)
            if chosen == before or chosen is None:
                continue
            judge, fingerprint = key
            epoch = turn_epoch(self.engine, judge=judge, fingerprint=fingerprint, model=chosen, now=now)
            logger.log(
                logging.INFO if before is None else logging.WARNING,
                "judge_epoch_began",
                extra={
                    "judge": judge_label(judge, fingerprint, epoch),
                    "epoch": epoch,
                    "answered_model": chosen,
                    "answered_model_before": before,
                },
            )

    def publish_checks(self) -> None:
        """Opens what each paid judge has to do today for the check set, and publishes what is due of it.

        Raises:
            BrokerLostError: what was taken is taken again when its time in the queue is over.
            DatabaseLostError: likewise.
        """
        now = self.clock.now()
        paid = [options for options in self.judges if options.name in self.paid]
        traces = list_checks(self.engine) if paid else ()
        for options in paid:
            ids = [
                one.id
                for one in traces
                if options.match.covers(
                    app=one.app, environment=one.environment, format_name=one.format, tags=one.tags
                )
            ]
            opened = open_checks(
                self.engine,
                judge=options.name,
                fingerprint=self.fingerprints[options.name],
                check_ids=ids,
                day=now.date(),
                now=now,
            )
            if opened:
                logger.info("checks_opened", extra={"judge": options.name, "checks": opened})
        keys = take_due_checks(
            self.engine,
            fingerprints=[(options.name, self.fingerprints[options.name]) for options in paid],
            now=now,
            limit=BATCH,
            queued_for_seconds=self.queued_for_seconds,
        )
        if keys:
            self.broker.publish_work(keys)

    def drop_old(self) -> None:
        """Drops results of the check set that are too old to be shown."""
        dropped = drop_old_results(self.engine, today=self.clock.now().date())
        if dropped:
            logger.info("check_results_dropped", extra={"results": dropped})

    def show_drift(self) -> None:
        """Shows each judge's epoch, how far its scores of the check set have moved, and how old they are."""
        now = self.clock.now()
        since = (now - FRESH).date()
        own = {(options.name, self.fingerprints[options.name]) for options in self.judges}
        epochs = read_epochs(self.engine)
        self.series.replace(
            JUDGE_EPOCH,
            {(judge_label(*key),): float(epochs[key].number if key in epochs else 1) for key in own},
        )
        fresh = [
            one
            for one in read_check_scores(self.engine, since=since)
            if (one.judge, one.fingerprint) in own and one.newest_day >= since
        ]
        drifts = {
            (judge_label(one.judge, one.fingerprint), scorer_label(one.scorer, one.version)): one
            for one in measure_drift(fresh)
        }
        self.series.replace(JUDGE_DRIFT, {labels: one.difference for labels, one in drifts.items()})
        self.series.replace(
            JUDGE_DRIFT_STDERR,
            {labels: one.stderr for labels, one in drifts.items() if one.stderr is not None},
        )
        self.series.replace(
            JUDGE_CHECK_AGE,
            {
                (judge_label(*key),): max(0.0, (now - moment).total_seconds())
                for key, moment in read_check_moments(self.engine).items()
                if key in own
            },
        )


def choose_model(answers: Mapping[str, int], *, before: str | None) -> str | None:
    """The model whose epoch it is, from how often each has answered in a day; None: none has yet.

    The one of before stays until another has given two thirds of at least 20 answers.
    """
    if not answers:
        return before
    commonest = min(answers, key=lambda model: (-answers[model], model))
    if before is None:
        return commonest
    total = sum(answers.values())
    is_clear = total >= FEWEST_ANSWERS and answers[commonest] >= MAJORITY * total
    return commonest if is_clear else before
