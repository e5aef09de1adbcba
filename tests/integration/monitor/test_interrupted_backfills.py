"""A backfill whose command was killed, and one that the monitor's settings do not know, do not hang."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragsonde.intake.topology import BACKFILL
from ragsonde.monitor.backfill_jobs import INTERRUPTED
from ragsonde.storage.backfills import create_backfill, note_progress
from ragsonde_schemas.backfill import BackfillState
from services.backfill_ground import BackfillGround

pytestmark = pytest.mark.integration

HOUR = 3600.0


def start_files(ground):
    request = ground.request(judge=None, fingerprint=None)
    return create_backfill(ground.engine, request, foreseen=0, created_by=None, now=ground.clock.now())


def test_of_files_whose_command_was_killed_it_ends_after_an_hour(engine):
    ground = BackfillGround(engine)
    number = start_files(ground)
    ground.step(seconds=HOUR - 1)
    note_progress(engine, number, messages=7, now=ground.clock.now())
    ground.step(seconds=HOUR)
    assert ground.read(number).state is BackfillState.RUNNING, "seven were published an hour ago"
    ground.broker.depths[BACKFILL] = 1
    ground.step()
    assert ground.read(number).state is BackfillState.RUNNING, "one still lies in the queue"
    ground.broker.depths[BACKFILL] = 0
    ground.step()
    ended = ground.read(number)
    assert (ended.state, ended.message, ended.looked_at) == (BackfillState.CANCELLED, INTERRUPTED, 7)
    ground.chores.show_progress()
    assert "ragsonde_backfill_done_ratio{" not in ground.series.render().body.decode()


def test_that_a_command_is_at_work_holds_up_no_evaluation(engine):
    ground = BackfillGround(engine)
    ground.admit("t-00", "t-01")
    number = ground.start(rate_per_second=0.05)
    published = 0
    for _ in range(5):
        ground.clock.advance(10)
        note_progress(engine, number, messages=1, now=ground.clock.now())
        published += ground.step()
    assert published == 2


def test_a_judge_that_the_running_monitor_does_not_know_is_told_with_what_to_do(engine):
    ground = BackfillGround(engine)
    ground.admit("t-00")
    number = ground.start()
    ground.chores = replace(ground.chores, assignments={})
    ground.step()
    paused = ground.read(number)
    assert paused.state is BackfillState.PAUSED
    for words in ("running monitor's settings do not name", "restart", f"ragsonde backfill resume {number}"):
        assert words in (paused.message or "")
