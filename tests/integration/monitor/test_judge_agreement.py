"""The share of contexts on which a judge and the lexical one agree, apart for suspected traces."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from fakes.clock import NOON, FakeClock
from fakes.evaluations import FREE, FREE_PRINT, PAID, PAID_PRINT, make_result, make_trace
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.judging.options import JudgeOptions
from ragsonde.monitor.judge_jobs import JudgeChores
from ragsonde.storage.judge_agreement import JudgeName, count_agreement
from ragsonde_schemas.assessment import Assessment, ContextVerdict
from ragsonde_schemas.evaluation import EvaluationState, PlannedEvaluation
from ragsonde_schemas.trace import Extraction, InjectionKind, SuspectedInjection
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

GPT, LEXICAL = JudgeName(PAID, PAID_PRINT), JudgeName(FREE, FREE_PRINT)
HOSTILE = Extraction(
    format="native",
    suspected_injection=(SuspectedInjection(where="context 1", kind=InjectionKind.OVERRIDE),),
)


def plan(name: JudgeName, *relevant: bool | None, **fields) -> PlannedEvaluation:
    """An evaluation that ended with these verdicts, in the order of the contexts."""
    contexts = {str(number): ContextVerdict(relevant=one) for number, one in enumerate(relevant, 1)}
    assessment = Assessment(contexts=contexts or None, **fields)
    return PlannedEvaluation(
        judge=name.judge,
        fingerprint=name.fingerprint,
        state=EvaluationState.SCORED,
        sample_rate=1.0,
        result=make_result(assessment=assessment),
    )


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(NOON), engine)


def store(stores, trace_id, gpt, lexical, **fields) -> None:
    stores.traces.admit(make_trace(trace_id, **fields), (gpt, lexical))


def count(engine, since=NOON - timedelta(hours=1), until=None):
    return count_agreement(engine, GPT, against=LEXICAL, since=since, until=until)


def test_contexts_are_counted_by_app_and_suspicion(engine, stores):
    store(stores, "a", plan(GPT, True, False), plan(LEXICAL, True, True))
    store(stores, "b", plan(GPT, False, False), plan(LEXICAL, False, False))
    store(stores, "c", plan(GPT, True, True), plan(LEXICAL, False, False), extraction=HOSTILE)
    store(stores, "d", plan(GPT, True), plan(LEXICAL, True), app="")
    assert count(engine) == {("shop", False): (3, 4), ("shop", True): (0, 2), ("", False): (1, 1)}


def test_what_one_of_them_did_not_judge_is_not_compared(engine, stores):
    store(stores, "a", plan(GPT, None, True), plan(LEXICAL, True, None))
    store(stores, "b", plan(GPT), plan(LEXICAL, True))
    store(stores, "c", plan(GPT, True), plan(LEXICAL))
    assert count(engine) == {}


def test_a_fallbacks_verdicts_are_not_the_judges_own(engine, stores):
    store(stores, "a", plan(GPT, True, answered_fingerprint="9" * 16), plan(LEXICAL, True))
    assert count(engine) == {}


def test_older_assessments_are_left_out(engine, stores):
    store(stores, "a", plan(GPT, True), plan(LEXICAL, True))
    assert count(engine, since=NOON + timedelta(seconds=1)) == {}


def test_later_assessments_are_left_out(engine, stores):
    store(stores, "a", plan(GPT, True), plan(LEXICAL, True))
    assert count(engine, until=NOON) == {}
    assert count(engine, until=NOON + timedelta(seconds=1)) == {("shop", False): (1, 1)}


def test_the_monitor_shows_the_share(engine, stores):
    store(stores, "a", plan(GPT, True, False), plan(LEXICAL, True, True))
    store(stores, "c", plan(GPT, True, True), plan(LEXICAL, False, False), extraction=HOSTILE, app="")
    series = Series(MONITOR_SERIES, known=KnownLabels())
    chores = JudgeChores(
        engine=engine,
        judges=(
            JudgeOptions(name=FREE, kind="lexical"),
            JudgeOptions(name=PAID, kind="litellm", model="m"),
        ),
        fingerprints={FREE: FREE_PRINT, PAID: PAID_PRINT},
        series=series,
        clock=FakeClock(NOON + timedelta(minutes=1)),
    )
    chores.show_agreement()
    page = series.render().body.decode()
    shown = dict(re.findall(r"judge_agreement_ratio{(.*)} (.*)", page))
    judges = 'against="lexical@012345",app="{}",judge="gpt@fedcba"'
    assert shown == {
        f'{judges.format("shop")},suspected="no"': "0.5",
        f'{judges.format("default")},suspected="yes"': "0.0",
    }
