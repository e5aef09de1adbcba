"""Whose stream a score belongs to is stored with it and read back: model, fallback, epoch."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from fakes.clock import FakeClock
from fakes.evaluations import PAID, make_assessment, make_result, make_trace, plan_paid
from ragsonde.cli.story import tell_history
from ragsonde.storage.history import read_history
from ragsonde.storage.tables import CURRENT_SCORE, AssessmentRow, ScoreRow
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

FALLBACK = "ab" * 8


def judge(engine, **fields):
    """A trace whose paid judge answered so; its history."""
    stores = PostgresStores(FakeClock(), engine)
    (key,) = stores.traces.admit(make_trace(), (plan_paid(),)).pending
    assessment = make_assessment().model_copy(update=fields)
    stores.traces.finish(stores.traces.claim(key), make_result(assessment=assessment))
    return read_history(engine, "t-1")


def read(engine, *columns):
    with engine.connect() as connection:
        return {tuple(row) for row in connection.execute(select(*columns))}


@pytest.mark.parametrize(
    ("fingerprint", "epoch", "words"),
    [
        (None, 1, "answered by m-7, epoch 1"),
        (None, 3, "answered by m-7, epoch 3"),
        (FALLBACK, 2, "answered by m-7, a fallback (@ababab), epoch 2"),
    ],
)
def test_model_fallback_and_epoch_are_stored_and_told(engine, fingerprint, epoch, words):
    history = judge(engine, answered_model="m-7", answered_fingerprint=fingerprint, judge_epoch=epoch)
    row = AssessmentRow
    stream = (fingerprint, epoch)
    assert read(engine, row.answered_model, row.answered_fingerprint, row.judge_epoch) == {("m-7", *stream)}
    assert read(engine, ScoreRow.answered_fingerprint, ScoreRow.judge_epoch) == {stream}
    current = CURRENT_SCORE.c
    assert read(engine, current.answered_fingerprint, current.judge_epoch) == {stream}
    (evaluation,) = [one for one in history.revisions[0].evaluations if one.key.judge == PAID]
    given = evaluation.assessment
    assert (given.answered_model, given.answered_fingerprint, given.judge_epoch) == ("m-7", *stream)
    assert f"    {words}" in [line.text for line in tell_history(history)]


def test_a_judge_that_calls_nobody_names_no_model(engine):
    history = judge(engine, answered_model=None)
    assert not any("answered by" in line.text for line in tell_history(history))
