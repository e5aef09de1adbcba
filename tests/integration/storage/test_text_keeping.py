"""`store_text`: whose texts stay, in the store's own transactions and by the job that comes after."""

from __future__ import annotations

from dataclasses import replace
from hashlib import md5

import pytest
from sqlalchemy import select, text

from fakes.clock import FakeClock
from fakes.evaluations import (
    FREE,
    FREE_PRINT,
    make_assessment,
    make_calls,
    make_full_trace,
    make_outage_call,
    make_outcomes,
    make_result,
    make_trace,
    plan_paid,
)
from ragsonde.redaction.wordless import WITHHELD, withhold_words
from ragsonde.storage import text_dropping
from ragsonde.storage.history import read_history
from ragsonde.storage.tables import TraceTextRow
from ragsonde.storage.text_dropping import drop_texts
from ragsonde.storage.text_keeping import DRAWN_BELOW, StoredTexts, TextRule
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationResult, EvaluationState, PlannedEvaluation
from services.everywhere import search_everywhere

pytestmark = pytest.mark.integration

WORST = TextRule(keep=StoredTexts.WORST, limits={"context_precision": 0.4})
NONE = TextRule(keep=StoredTexts.NONE)
ALL = TextRule()


def is_drawn(trace_id):
    return md5(trace_id.encode(), usedforsecurity=False).hexdigest() < DRAWN_BELOW


NAMES = [name for name in (f"t-{number}" for number in range(2000)) if not is_drawn(name)]
DRAWN = next(name for name in (f"t-{number}" for number in range(2000)) if is_drawn(name))


def result_of(raw, **options):
    (score, _) = make_outcomes(raw)
    assessment = options.get("assessment") or make_assessment()
    return EvaluationResult(state=EvaluationState.SCORED, outcomes=(score,), assessment=assessment)


def free(raw=0.9):
    return PlannedEvaluation(
        judge=FREE,
        fingerprint=FREE_PRINT,
        state=EvaluationState.SCORED,
        sample_rate=1.0,
        result=result_of(raw),
    )


@pytest.fixture
def store_with(engine):
    clock = FakeClock()
    return lambda rule: PostgresTraceStore(engine, clock=clock, texts=rule)


def list_texts(engine):
    with engine.connect() as connection:
        rows = connection.execute(select(TraceTextRow.trace_id, TraceTextRow.revision))
        return sorted(tuple(row) for row in rows)


class TestWorst:
    @pytest.mark.parametrize(
        ("raw", "name", "stays"),
        [(0.39, NAMES[0], True), (0.4, NAMES[0], False), (0.9, DRAWN, True)],
        ids=["below its limit", "at its limit", "drawn"],
    )
    def test_a_judged_trace_keeps_its_text_where_it_is_bad_or_drawn(
        self, engine, store_with, raw, name, stays
    ):
        store_with(WORST).admit(make_trace(name), (free(raw),))
        assert list_texts(engine) == ([(name, 1)] if stays else [])

    def test_an_error_keeps_the_text_for_who_looks_into_it(self, engine, store_with):
        failed = make_result(EvaluationState.FAILED)
        planned = free().model_copy(update={"state": EvaluationState.FAILED, "result": failed})
        store_with(WORST).admit(make_trace(NAMES[0]), (planned,))
        assert list_texts(engine) == [(NAMES[0], 1)]

    def test_a_scorer_without_a_limit_makes_no_trace_one_of_the_worst(self, engine, store_with):
        store_with(replace(WORST, limits={})).admit(make_trace(NAMES[0]), (free(0.0),))
        assert list_texts(engine) == []

    @pytest.mark.parametrize("raw", [0.1, 0.9])
    def test_what_waits_keeps_its_text_until_it_is_judged(self, engine, store_with, raw):
        store = store_with(WORST)
        (key,) = store.admit(make_trace(NAMES[0]), (free(), plan_paid())).pending
        claimed = store.claim(key)
        assert list_texts(engine) == [(NAMES[0], 1)]
        store.finish(claimed, result_of(raw))
        assert bool(list_texts(engine)) == (raw < 0.4)

    def test_a_retry_finds_the_text(self, store_with):
        store = store_with(WORST)
        (key,) = store.admit(make_trace(NAMES[0]), (free(), plan_paid())).pending
        claimed = store.claim(key)
        store.postpone(claimed, until=FakeClock().now(), cause=Cause.JUDGE_UNAVAILABLE)
        again = store.claim(key)
        assert again.trace.query == make_trace().query

    def test_what_is_shed_keeps_no_text(self, engine, store_with):
        store = store_with(WORST)
        (key,) = store.admit(make_trace(NAMES[0]), (free(), plan_paid())).pending
        store.shed(store.claim(key), cause=Cause.BUDGET_SPENT)
        assert list_texts(engine) == []

    @pytest.mark.parametrize("name", [NAMES[0], DRAWN], ids=["bad", "drawn"])
    def test_only_the_newest_revision_keeps_its_text(self, engine, store_with, name):
        store = store_with(WORST)
        store.admit(make_trace(name), (free(0.1), plan_paid()))
        store.admit(make_trace(name, answer="Another."), (free(0.1),))
        assert list_texts(engine) == [(name, 2)]

    def test_a_withdrawn_record_keeps_no_text(self, engine, store_with):
        store = store_with(WORST)
        store.admit(make_trace(NAMES[0]), (free(0.1),))
        store.withdraw(make_trace(NAMES[0]).key)
        assert list_texts(engine) == []

    def test_the_same_content_again_is_a_duplicate_though_its_text_is_gone(self, engine, store_with):
        store = store_with(WORST)
        store.admit(make_trace(NAMES[0]), (free(),))
        assert store.admit(make_trace(NAMES[0]), (free(),)).kind == "duplicate"
        assert list_texts(engine) == []


class TestTheJob:
    def test_it_drops_what_an_earlier_setting_kept_a_page_at_a_time(self, engine, store_with, monkeypatch):
        monkeypatch.setattr(text_dropping, "PAGE_ROWS", 2)
        store = store_with(ALL)
        for number, name in enumerate(NAMES[:7]):
            store.admit(make_trace(name), (free(0.1 if number == 4 else 0.9),))
        store.admit(make_trace(DRAWN), (free(),))
        (waiting,) = store.admit(make_trace(NAMES[8]), (free(), plan_paid())).pending
        assert drop_texts(engine, ALL) == 0
        assert drop_texts(engine, WORST, is_dry=True) == 6
        assert len(list_texts(engine)) == 9
        assert drop_texts(engine, WORST) == 6
        kept = sorted([NAMES[4], DRAWN, waiting.trace.trace_id])
        assert [name for name, _ in list_texts(engine)] == kept
        assert drop_texts(engine, NONE) == 2
        assert list_texts(engine) == [(waiting.trace.trace_id, 1)]

    def test_a_pause_ends_it_between_pages_and_the_next_run_goes_on(self, engine, store_with, monkeypatch):
        monkeypatch.setattr(text_dropping, "PAGE_ROWS", 2)
        for name in NAMES[:5]:
            store_with(ALL).admit(make_trace(name), (free(),))
        assert drop_texts(engine, NONE, should_pause=lambda: len(list_texts(engine)) < 5) == 2
        assert drop_texts(engine, NONE) == 3


class TestNone:
    def test_no_text_of_a_whole_message_is_ever_written(self, engine, store_with):
        trace = make_full_trace("t-none").model_copy(
            update={"metadata": {"secret": "Nebelkrähe"}, "extra": {"x": ["Nebelkrähe"]}}
        )
        store_with(NONE).admit(trace, (free().model_copy(update={"result": wordless_result()}),))
        for words in ("Nebelkrähe", "Zwei Sätze", "refund duration", "opening hours", "A refund takes"):
            assert search_everywhere(engine, words) == []

    def test_it_is_gone_with_the_last_evaluation_that_needs_it(self, engine, store_with):
        store = store_with(NONE)
        (key,) = store.admit(make_trace("t-none"), (free(0.1), plan_paid())).pending
        claimed = store.claim(key)
        assert claimed.trace.query == make_trace().query
        store.finish(claimed, wordless_result())
        assert search_everywhere(engine, claimed.trace.query) == []
        assert search_everywhere(engine, "Shipping is free") == []

    def test_replies_of_a_judge_that_went_away_are_not_kept(self, engine, store_with):
        store = store_with(NONE)
        (key,) = store.admit(make_trace("t-none"), (free(), plan_paid())).pending
        store.postpone(
            store.claim(key),
            until=FakeClock().now(),
            cause=Cause.JUDGE_UNAVAILABLE,
            calls=(make_outage_call(),),
        )
        (_, evaluation) = sorted(
            read_history(engine, "t-none").revisions[0].evaluations, key=lambda one: len(one.replies)
        )
        assert [call.reply for call in evaluation.replies] == [""]

    def test_verdicts_that_were_stored_with_words_are_taken_again_without(self, store_with):
        whole = make_assessment().model_copy(update={"faults": {}, "truncated": False})
        planned = free().model_copy(update={"result": result_of(0.9, assessment=whole)})
        store_with(ALL).admit(make_trace("t-all"), (planned,))
        paid = plan_paid().model_copy(update={"fingerprint": FREE_PRINT})
        later = store_with(NONE).admit(make_trace("t-none"), (paid,))
        found = store_with(NONE).claim(later.pending[0]).earlier
        assert found is not None
        assert found.missing == (WITHHELD,)


def wordless_result():
    return result_of(0.9, assessment=withhold_words(make_assessment(calls=make_calls())))


def test_the_statistics_of_texts_hold_no_words_either(engine, store_with):
    """What ANALYZE samples would be words of texts: of a table that is empty there is none."""
    store_with(NONE).admit(make_trace("t-none"), (free(),))
    with engine.begin() as connection:
        connection.execute(text("ANALYZE trace_text"))
        query = "SELECT count(*) FROM pg_stats WHERE tablename LIKE 'trace_text%'"
        assert connection.execute(text(query)).scalar_one() == 0
