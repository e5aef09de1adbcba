"""What the monitor does for backfills: begin what is missing, publish it at its rate."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragsonde.exposition.series import BACKFILL_EVALUATIONS, BACKFILL_PROGRESS
from ragsonde.intake.topology import BACKFILL, TRACES, WORK
from ragsonde.monitor.loop import Job
from ragsonde.pipeline.backfilling import choose_candidates, list_taken, plan_turn
from ragsonde.storage.backfill_beginnings import begin_evaluations
from ragsonde.storage.backfill_candidates import read_page
from ragsonde.storage.backfill_endings import count_ended, put_back
from ragsonde.storage.backfill_turns import read_pace, take_turns
from ragsonde.storage.backfills import change_state, list_backfills
from ragsonde_schemas.backfill import BackfillState
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.stream_labels import judge_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.intake.work_message import WorkKey
    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.ports import Clock
    from ragsonde_schemas.backfill import Backfill

logger = logging.getLogger(__name__)

BACKFILLS, BACKFILLS_SHOWN = "backfills", "backfills_shown"
BACKFILL_JOB_NAMES = (BACKFILLS, BACKFILLS_SHOWN)
STEP_SECONDS = 1.0
SHOW_SECONDS = 15.0

LIVE_LIMIT = 10
"""With more messages than these ready in the queues of live traffic, nothing of a backfill is published."""
QUEUE_LIMIT = 50
"""So many messages at most in the queue of backfills: the rest is published when workers have taken these."""
SECONDS_AHEAD = 60
"""Evaluations are begun for so many seconds at the backfill's rate; the rest is not written yet."""
FEWEST_AHEAD, MOST_AHEAD = 100, 2_000
PAGES_A_STEP = 20
"""So that a range in which nothing is missing neither takes long nor keeps another backfill waiting."""

MOST_SILENT_SECONDS = 3_600
"""Longer than any rate lets a command wait between two messages of a file."""
INTERRUPTED = (
    "its command ended before it had published all: start it again with the same files, what is stored is a "
    "duplicate"
)


class Broker(Protocol):
    """What the jobs need of the broker."""

    def publish_work(self, keys: Sequence[WorkKey], *, queue: str = WORK) -> None:
        """Publishes a work message for each key, confirmed."""
        ...

    def count_messages(self) -> dict[str, int]:
        """Messages ready in each of our queues, by name."""
        ...


@dataclass(frozen=True, kw_only=True)
class BackfillChores:
    """The jobs' work, with what it needs.

    Attributes:
        assignments: of the configured judges, by name.
        broker: a connection of its own, as it publishes.
        queued_for_seconds: after which a published and not yet claimed evaluation is published again.
        should_pause: asked between steps; True ends a run early.
    """

    engine: Engine
    assignments: Mapping[str, Assignment]
    broker: Broker
    queued_for_seconds: int
    series: Series
    clock: Clock
    should_pause: Callable[[], bool]

    def build_jobs(self) -> tuple[Job, ...]:
        """All jobs, as the monitor runs them."""
        return (
            Job(name=BACKFILLS, interval_seconds=STEP_SECONDS, run=self.step),
            Job(
                name=BACKFILLS_SHOWN,
                interval_seconds=SHOW_SECONDS,
                run=self.show_progress,
                is_exclusive=False,
                shows=(BACKFILL_PROGRESS, BACKFILL_EVALUATIONS),
            ),
        )

    def step(self) -> None:
        """Takes every backfill one step further; a monitor that is killed in between has lost nothing.

        Raises:
            BrokerLostError: what was taken is taken again when its time in the queue is over.
            DatabaseLostError: likewise.
        """
        under_way = (BackfillState.RUNNING, BackfillState.PAUSED)
        for backfill in list_backfills(self.engine, states=under_way, with_open=True):
            if self.should_pause():
                return
            self._step_one(backfill)

    def show_progress(self) -> None:
        """Shows how far each backfill that is under way has come."""
        shown = list_backfills(self.engine, states=(BackfillState.RUNNING, BackfillState.PAUSED))
        labels = {one.id: (str(one.id), _name_judge(one)) for one in shown}
        self.series.replace(BACKFILL_PROGRESS, {labels[one.id]: one.share_done for one in shown})
        self.series.replace(
            BACKFILL_EVALUATIONS,
            {
                (*labels[one.id], state): float(count)
                for one in shown
                for state, count in (
                    ("outstanding", one.tally.outstanding),
                    ("scored", one.tally.scored),
                    ("not_evaluable", one.tally.not_evaluable),
                    ("failed", one.tally.failed),
                    ("left", one.tally.left),
                )
            },
        )

    def _step_one(self, backfill: Backfill) -> None:
        if backfill.state in {BackfillState.CANCELLED, BackfillState.SPENT}:
            cause = Cause.BUDGET_SPENT.value if backfill.state is BackfillState.SPENT else None
            put_back(self.engine, backfill.id, cause=cause, now=self.clock.now())
        shed = count_ended(self.engine, backfill.id)
        if backfill.state is BackfillState.DONE and backfill.tally.outstanding:
            self._change(backfill, BackfillState.RUNNING, None)
        if backfill.state is not BackfillState.RUNNING:
            return
        if shed:
            self._change(backfill, BackfillState.SPENT, "its own calls or dollars are used up")
            return
        if (reason := self._find_obstacle(backfill)) is not None:
            self._change(backfill, BackfillState.PAUSED, reason)
            return
        is_of_files = backfill.request.judge is None
        outstanding = backfill.tally.outstanding if is_of_files else self._begin(backfill)
        if outstanding:
            self._publish(backfill)
        elif is_of_files and not self.broker.count_messages().get(BACKFILL):
            self._end_files(backfill)

    def _end_files(self, backfill: Backfill) -> None:
        """Ends a backfill of files of which nothing is under way, unless its command still publishes."""
        if backfill.is_looked_through:
            self._change(backfill, BackfillState.DONE, None)
            return
        pace = read_pace(self.engine, backfill.id)
        if pace is not None and (self.clock.now() - pace.paced_at).total_seconds() > MOST_SILENT_SECONDS:
            self._change(backfill, BackfillState.CANCELLED, INTERRUPTED)

    def _find_obstacle(self, backfill: Backfill) -> str | None:
        """Why nobody could judge for it: the settings have changed."""
        request = backfill.request
        if request.judge is None:
            return None
        assignment = self.assignments.get(request.judge)
        if assignment is None:
            return (
                f"the running monitor's settings do not name judge {request.judge}: restart monitor and "
                f"workers with settings that do, then `ragsonde backfill resume {backfill.id}`"
            )
        if assignment.judge.fingerprint != request.fingerprint:
            return (
                f"judge {request.judge} is configured otherwise in the running monitor's settings: where "
                "those are the old ones, restart monitor and workers with the new, then `ragsonde backfill "
                f"resume {backfill.id}`; else cancel this one and start another"
            )
        if request.scorer not in {None, *(scorer.instance for scorer in assignment.scorers)}:
            return (
                f"judge {request.judge} has no scorer {request.scorer} in the running monitor's settings: "
                "restart monitor and workers with settings that have it, then `ragsonde backfill resume "
                f"{backfill.id}`"
            )
        return None

    def _begin(self, backfill: Backfill) -> int:
        """How many evaluations are under way, after some more were begun where there is room."""
        request, outstanding, planned = backfill.request, backfill.tally.outstanding, backfill.planned
        room = min(MOST_AHEAD, max(FEWEST_AHEAD, round(request.rate_per_second * SECONDS_AHEAD)))
        pace = read_pace(self.engine, backfill.id)
        is_over = backfill.is_looked_through or pace is None
        after = None if pace is None else pace.place
        for _ in range(PAGES_A_STEP):
            is_full = request.most_traces is not None and planned >= request.most_traces
            if is_over or is_full or outstanding >= room or self.should_pause():
                break
            page = read_page(self.engine, request, after=after)
            choice = choose_candidates(
                page.candidates, request, assignment=self.assignments[request.judge or ""]
            )
            most = None if request.most_traces is None else request.most_traces - planned
            is_cut = most is not None and len(choice.chosen) > most
            begun = begin_evaluations(
                self.engine,
                backfill.id,
                choice.chosen[:most],
                judge=request.judge or "",
                fingerprint=request.fingerprint or "",
                taken=list_taken(request),
                looked_at=len(page.candidates),
                next_place=None if is_cut else page.next_place,
                now=self.clock.now(),
            )
            outstanding, planned, after = outstanding + begun, planned + begun, page.next_place
            is_over = after is None or is_cut
        is_full = request.most_traces is not None and planned >= request.most_traces
        if not outstanding and (is_over or is_full):
            self._change(backfill, BackfillState.DONE, None)
        return outstanding

    def _publish(self, backfill: Backfill) -> None:
        depths = self.broker.count_messages()
        if depths.get(TRACES, 0) + depths.get(WORK, 0) > LIVE_LIMIT:
            return
        now = self.clock.now()
        pace = read_pace(self.engine, backfill.id)
        if pace is None:
            return
        turn = plan_turn(
            rate_per_second=backfill.request.rate_per_second,
            paced_at=pace.paced_at,
            now=now,
            most=QUEUE_LIMIT - depths.get(BACKFILL, 0),
        )
        if turn.size:
            keys = take_turns(
                self.engine,
                backfill.id,
                now=now,
                limit=turn.size,
                queued_for_seconds=self.queued_for_seconds,
                paced_at=turn.paced_at,
            )
            if keys:
                self.broker.publish_work(keys, queue=BACKFILL)

    def _change(self, backfill: Backfill, state: BackfillState, message: str | None) -> None:
        if change_state(self.engine, backfill.id, state, message=message, now=self.clock.now()):
            tally = backfill.tally
            logger.info(
                "backfill_changed",
                extra={
                    "backfill": backfill.id,
                    "judge": _name_judge(backfill),
                    "state": state.value,
                    "reason": message,
                    "evaluated": tally.evaluated,
                    "left": tally.left,
                },
            )


def _name_judge(backfill: Backfill) -> str:
    request = backfill.request
    return judge_label(request.judge or "", request.fingerprint or "")
