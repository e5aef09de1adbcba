"""Pauses of judges, shared by workers over a real Postgres."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from sqlalchemy.dialects.postgresql import insert

from fakes.clock import FakeClock
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.judging.options import JudgeOptions
from ragsonde.monitor.judge_jobs import JudgeChores
from ragsonde.storage.engine import build_engine
from ragsonde.storage.judge_states import PAUSE, PostgresJudgeStates, read_paused
from ragsonde.storage.tables import JudgeStateRow

pytestmark = pytest.mark.integration

GPT = ("gpt", "a" * 16)
MESSAGE = "AuthenticationError 401: check its API key"


class Workers:
    """Two workers on one clock and one database."""

    def __init__(self, engine):
        self.clock = FakeClock()
        self.one, self.other = (PostgresJudgeStates(engine, clock=self.clock) for _ in range(2))

    def pause(self):
        self.one.pause(*GPT, message=MESSAGE)
        self.clock.advance(6)


@pytest.fixture
def workers(engine):
    return Workers(engine)


def test_a_judge_of_which_nothing_is_stored_is_in_its_first_epoch_and_not_paused(workers):
    state = workers.one.find(*GPT)
    assert (state.epoch, state.paused_until, state.answered_model) == (1, None, None)


def test_a_pause_holds_for_all_workers_within_five_seconds_and_for_no_other_model(workers):
    assert workers.other.find(*GPT).paused_until is None
    workers.pause()
    assert workers.other.find(*GPT).pause_message == MESSAGE
    assert workers.other.find(*GPT).paused_until == workers.one.find(*GPT).paused_until
    assert workers.other.find("gpt", "b" * 16).paused_until is None
    assert workers.other.find("other", GPT[1]).paused_until is None


def test_one_worker_a_minute_may_try(workers):
    workers.pause()
    assert not workers.one.take_probe(*GPT)
    assert not workers.other.take_probe(*GPT)
    for _ in range(2):
        workers.clock.advance(PAUSE.total_seconds())
        assert [worker.take_probe(*GPT) for worker in (workers.other, workers.one)] == [True, False]


def test_who_succeeds_ends_the_pause_for_all(workers):
    workers.pause()
    workers.clock.advance(60)
    assert workers.other.take_probe(*GPT)
    workers.other.resume(*GPT)
    workers.clock.advance(6)
    assert [worker.find(*GPT).paused_until for worker in (workers.one, workers.other)] == [None, None]


def test_a_refused_probe_moves_the_pause_on_and_is_told_once(workers, caplog):
    with caplog.at_level(logging.INFO):
        workers.pause()
        workers.clock.advance(60)
        workers.other.take_probe(*GPT)
        workers.other.pause(*GPT, message="PermissionDeniedError 403")
        workers.clock.advance(6)
        state = workers.one.find(*GPT)
        assert state.pause_message == "PermissionDeniedError 403"
        assert state.paused_until > workers.clock.now()
        workers.one.resume(*GPT)
    assert [record.message for record in caplog.records] == ["judge_model_paused", "judge_model_resumed"]


def test_an_epoch_is_read_and_stays_when_a_pause_comes_and_goes(workers, engine):
    with engine.begin() as connection:
        connection.execute(insert(JudgeStateRow).values(judge=GPT[0], fingerprint=GPT[1], epoch=4))
    assert workers.one.find(*GPT).epoch == 4
    workers.pause()
    workers.one.resume(*GPT)
    assert workers.one.find(*GPT).epoch == 4


def test_while_postgres_is_away_nothing_is_raised_and_what_is_known_holds():
    clock = FakeClock()
    away = build_engine("postgresql://nobody@127.0.0.1:1/none", application_name="test")
    states = PostgresJudgeStates(away, clock=clock)
    assert states.find(*GPT).paused_until is None
    states.pause(*GPT, message=MESSAGE)
    assert not states.take_probe(*GPT)
    states.resume(*GPT)
    assert states.find(*GPT).epoch == 1
    away.dispose()


def test_the_monitor_shows_which_judges_are_paused(workers, engine):
    series = Series(MONITOR_SERIES)
    chores = JudgeChores(
        engine=engine,
        judges=(
            JudgeOptions(name="gpt", kind="litellm", model="openai/mock"),
            JudgeOptions(name="words", kind="lexical"),
        ),
        fingerprints={"gpt": GPT[1], "words": "c" * 16},
        series=series,
        clock=workers.clock,
    )

    def show():
        chores.show_pauses()
        lines = series.render().body.decode().splitlines()
        return [line for line in lines if line.startswith("ragsonde_judge_paused{")]

    workers.pause()
    assert show() == [
        'ragsonde_judge_paused{judge="gpt@aaaaaa"} 1.0',
        'ragsonde_judge_paused{judge="words@cccccc"} 0.0',
    ]
    workers.one.resume(*GPT)
    assert show() == [
        'ragsonde_judge_paused{judge="gpt@aaaaaa"} 0.0',
        'ragsonde_judge_paused{judge="words@cccccc"} 0.0',
    ]
    assert read_paused(engine) == frozenset()


def test_a_pause_lasts_as_long_as_it_is_told_to(engine):
    clock = FakeClock()
    states = PostgresJudgeStates(engine, clock=clock, pause=timedelta(seconds=2))
    states.pause(*GPT, message=MESSAGE)
    clock.advance(2)
    assert states.take_probe(*GPT)
