"""Lists of traces behind a number, from a real Postgres."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_trace, plan_free, plan_paid
from fakes.watched_traces import SHOP, admit, find_precision, leave, leave_empty
from ragsonde.storage.watching import PostgresWatching
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState as S
from ragsonde_schemas.watched_list import TraceFilter
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


@pytest.fixture
def stores(own_engine):  # what is sampled goes by the size of the files: none may be left of earlier rows
    return PostgresStores(FakeClock(), own_engine)


@pytest.fixture
def watching(stores):
    return PostgresWatching(stores.engine, clock=stores.clock, limits={}, comparable=["context_precision"])


def find(watching, **wanted):
    return watching.list_traces(TraceFilter(**{**SHOP.model_dump(), **wanted})).traces


def find_ids(watching, **wanted):
    return [one.trace_id for one in find(watching, **wanted)]


def test_traces_come_newest_first_and_only_of_the_place(stores, watching):
    for hours in (3, 1, 2, 20):
        admit(stores, f"t-{hours}", occurred_at=NOON - timedelta(hours=hours))
    admit(stores, "old", occurred_at=NOON - timedelta(hours=25))
    admit(stores, "s-1", environment="staging")
    assert find_ids(watching) == ["t-1", "t-2", "t-3", "t-20"]
    assert set(find_ids(watching, environment=None)) == {"t-1", "t-2", "t-3", "t-20", "s-1"}
    assert find_ids(watching, day=(NOON - timedelta(days=1)).date()) == ["t-20", "old"]


def test_states_causes_and_judges_choose(stores, watching):
    stores.traces.admit(make_trace("both", environment="production"), (plan_free(), plan_paid()))
    leave(stores, "failed", S.FAILED)
    leave_empty(stores, "empty")
    assert find_ids(watching, judge="gpt", state=S.WAITING) == ["both"]
    assert find_ids(watching, judge="lexical", state=S.SCORED) == ["both"]
    assert set(find_ids(watching, judge="gpt")) == {"both", "failed"}
    assert find_ids(watching, cause=Cause.EMPTY_RETRIEVAL) == ["empty"]
    (one,) = find(watching, state=S.FAILED)
    assert (one.judge, one.state, one.cause) == ("gpt", "failed", "not_assessed")


def test_superseded_revisions_are_listed_only_where_they_are_asked_for(stores, watching):
    admit(stores, "t-1")
    admit(stores, "t-1", answer="Another answer.")
    assert find_ids(watching, judge="lexical") == ["t-1"]
    assert find_ids(watching, judge="lexical", state=S.SUPERSEDED) == ["t-1"]
    assert find_ids(watching, judge="lexical", scorer="context_precision") == ["t-1"]


def test_scores_choose_by_tenth_number_and_threshold(stores, watching):
    for number, raw in enumerate((0.1, 0.31, 0.4, 1.0)):
        admit(stores, f"t-{number}", raw=raw)
    scorer = {"scorer": "context_precision"}
    assert set(find_ids(watching, **scorer, bin=3)) == {"t-1", "t-2"}
    assert find_ids(watching, **scorer, bin=9) == ["t-3"]
    assert len(find_ids(watching, **scorer, is_scored=True)) == 4
    assert find_ids(watching, **scorer, is_scored=False) == []
    assert find_ids(watching, **scorer, is_below=True) == []
    unscored = {"scorer": "statement_relevancy"}
    assert len(find_ids(watching, **unscored, cause=Cause.NOT_ASSESSED)) == 4
    assert find_ids(watching, **unscored, bin=9) == []
    (one,) = find(watching, **scorer, bin=0)
    assert (one.raw, one.reason, one.judge) == (0.1, "1 of 2 contexts is relevant", "lexical")


def test_the_list_of_a_card_holds_the_traces_of_its_stream_alone(stores, watching):
    admit(stores, "a")
    admit(stores, "b", plan={"fingerprint": "ff" * 8})
    admit(stores, "c", version="1+abcdef:answer")
    (place,) = watching.read_overview().places
    listed = [
        find_ids(watching, **stream.model_dump(), is_scored=True)
        for stream in (one.stream for one in find_precision(place))
    ]
    assert sorted(listed) == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize("wanted", [{}, {"judge": "lexical"}, {"scorer": "context_precision"}])
def test_what_is_stored_later_is_on_no_further_page(stores, watching, wanted):
    admit(stores, "t-1")
    until = watching.list_traces(TraceFilter(**wanted)).until
    stores.clock.advance(60)
    admit(stores, "new")
    page = watching.list_traces(TraceFilter(**wanted, until=until))
    assert [one.trace_id for one in page.traces] == ["t-1"]


def test_pages_do_not_shift_when_more_comes(stores, watching, monkeypatch):
    monkeypatch.setattr("ragsonde.storage.watched_lists.PAGE_TRACES", 2)
    for number in range(5):
        admit(stores, f"t-{number}", occurred_at=NOON - timedelta(minutes=number))
    first = watching.list_traces(TraceFilter())
    assert ([one.trace_id for one in first.traces], first.has_more) == (["t-0", "t-1"], True)
    stores.clock.advance(60)
    admit(stores, "new", occurred_at=NOON)
    second = watching.list_traces(TraceFilter(page=2, until=first.until))
    assert ([one.trace_id for one in second.traces], second.has_more) == (["t-2", "t-3"], True)
    third = watching.list_traces(TraceFilter(page=3, until=first.until))
    assert ([one.trace_id for one in third.traces], third.has_more) == (["t-4"], False)
