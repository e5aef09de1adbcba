"""What the overview shows, from a real Postgres."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_trace, plan_free, plan_paid
from fakes.watched_traces import SHOP, admit, find_precision
from ragsonde.storage.watching import PostgresWatching
from ragsonde_schemas.spending import Limit, Period
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


@pytest.fixture
def stores(own_engine):  # what is sampled goes by the size of the files: none may be left of earlier rows
    return PostgresStores(FakeClock(), own_engine)


@pytest.fixture
def watching(stores):
    limits = {"gpt": (Limit(period=Period.DAY, calls=100),)}
    return PostgresWatching(
        stores.engine, clock=stores.clock, limits=limits, comparable=["context_precision"]
    )


def read_place(watching):
    return watching.read_overview().places[0]


def test_places_come_with_the_busiest_first(stores, watching):
    for number in range(3):
        admit(stores, f"t-{number}")
    stores.clock.advance(60)
    admit(stores, "s-1", environment="staging", contexts=(), occurred_at=NOON + timedelta(seconds=60))
    busiest, other = (one.activity for one in watching.read_overview().places)
    assert (busiest.place.environment, busiest.traces) == ("production", 3)
    assert (other.place.environment, other.traces) == ("staging", 1)
    assert other.last_at == NOON + timedelta(seconds=60)


def test_a_producer_whose_clock_is_ahead_does_not_look_alive_for_longer(stores, watching):
    admit(stores, "t-1", occurred_at=NOON + timedelta(hours=5))
    assert read_place(watching).activity.last_at == NOON


def test_what_occurred_more_than_a_day_ago_is_not_shown(stores, watching):
    admit(stores, "old")
    stores.clock.advance(86_401)
    assert watching.read_overview().places == ()


def test_the_scores_of_one_environment_are_summed(stores, watching):
    for number, raw in enumerate((0.2, 0.4, 0.9)):
        admit(stores, f"t-{number}", raw=raw)
    admit(stores, "s-1", raw=0.0, environment="staging")
    place = read_place(watching)
    (precision,) = find_precision(place)
    assert (precision.judge, precision.scorer) == ("lexical", "context_precision:answer")
    assert (precision.n, precision.mean) == (3, pytest.approx(0.5))
    # sample variance of .2, .4, .9: (.09 + .01 + .16) / 2
    assert precision.deviation == pytest.approx(0.13**0.5)
    assert (precision.below, precision.share) == (0, 1.0)
    assert precision.bins == (0, 1, 0, 1, 0, 0, 0, 0, 1, 0)  # a tenth has its upper end in it
    (day,) = precision.days
    assert (day.day, day.n, day.mean) == (NOON.date(), 3, pytest.approx(0.5))
    statements = next(one for one in place.scorers if one.stream.scorer == "statement_relevancy")
    assert (statements.n, statements.mean, dict(statements.unscored)) == (0, None, {"not_assessed": 3})


@pytest.mark.parametrize(
    ("raw", "place"), [(0.0, 0), (0.01, 0), (0.1, 0), (0.3, 2), (0.30001, 3), (0.7, 6), (1.0, 9)]
)
def test_a_score_lies_in_its_tenth(stores, watching, raw, place):
    admit(stores, "t-1", raw=raw)
    (precision,) = find_precision(read_place(watching))
    assert precision.bins.index(1) == place


def test_a_mean_over_midnight_is_that_of_all(stores, watching):
    for hours, raw in ((20, 0.1), (20, 0.3), (1, 0.8)):
        admit(stores, f"t-{hours}-{raw}", raw=raw, occurred_at=NOON - timedelta(hours=hours))
    (precision,) = find_precision(read_place(watching))
    assert (precision.n, precision.mean) == (3, pytest.approx(0.4))
    # sample variance of .1, .3, .8: (.09 + .01 + .16) / 2
    assert precision.deviation == pytest.approx(0.13**0.5)
    assert [(day.n, day.mean) for day in precision.days] == [(2, pytest.approx(0.2)), (1, pytest.approx(0.8))]


def test_equal_scores_have_no_spread_at_all(stores, watching):
    for number in range(20):
        admit(stores, f"t-{number}", raw=0.1, occurred_at=NOON - timedelta(hours=number))
    (precision,) = find_precision(read_place(watching))
    assert precision.deviation < 1e-9


def test_each_card_has_the_line_of_its_own_stream(stores, watching):
    for number in range(3):
        admit(stores, f"a-{number}", raw=0.9)
        admit(stores, f"b-{number}", raw=0.1, plan={"fingerprint": "ff" * 8})
        admit(stores, f"c-{number}", raw=0.5, version="1+abcdef:answer")
    lines = {one.stream.version + one.judge: one.days for one in find_precision(read_place(watching))}
    assert {name: [(day.n, day.mean) for day in days] for name, days in lines.items()} == {
        "1:answerlexical@012345": [(3, pytest.approx(0.9))],
        "1:answerlexical@ffffff": [(3, pytest.approx(0.1))],
        "1+abcdef:answerlexical@012345": [(3, pytest.approx(0.5))],
    }


def rescore(stores, *, raw):
    """All scores once more, under another version, as `ragsonde rescore` writes them."""
    statement = text(
        "INSERT INTO score (trace_id, app, record_key, revision, day, judge, fingerprint, scorer, version,"
        " created_at, status, raw, value, band, passed, cause, reason, details)"
        " SELECT trace_id, app, record_key, revision, day, judge, fingerprint, scorer, '1+abcdef:answer',"
        " created_at + interval '1 s', status, :raw, value, band, passed, cause, reason, details"
        " FROM score WHERE status = 'scored'"
    )
    with stores.engine.begin() as connection:
        connection.execute(statement, {"raw": raw})


def test_a_trace_that_was_scored_anew_counts_once(stores, watching):
    for number in range(4):
        admit(stores, f"t-{number}", raw=0.9)
    rescore(stores, raw=0.3)
    (precision,) = find_precision(read_place(watching))
    assert (precision.n, precision.mean) == (4, pytest.approx(0.3))
    assert [(day.n, day.mean) for day in precision.days] == [(4, pytest.approx(0.3))]


def test_a_superseded_revision_counts_no_more(stores, watching):
    admit(stores, "t-1", raw=0.1)
    admit(stores, "t-1", raw=0.9, answer="Another answer.")
    (precision,) = find_precision(read_place(watching))
    assert (precision.n, precision.mean) == (1, pytest.approx(0.9))
    assert [day.mean for day in precision.days] == [pytest.approx(0.9)]


def test_the_lowest_traces_come_lowest_first(stores, watching):
    for number, raw in enumerate((0.5, 0.1, 0.3, 0.2)):
        admit(stores, f"t-{number}", raw=raw)
    admit(stores, "s-1", raw=0.0, environment="staging")
    admit(stores, "old", raw=0.0, occurred_at=NOON - timedelta(hours=30))
    lowest = watching.list_lowest(SHOP, judge="lexical")
    assert [(low.trace_id, low.raw) for low in lowest] == [
        ("t-1", 0.1),
        ("t-3", 0.2),
        ("t-2", 0.3),
        ("t-0", 0.5),
    ]
    assert lowest[0].reason == "1 of 2 contexts is relevant"


def test_of_equally_low_traces_the_newest_come_first_and_older_ones_fill_up(stores, watching):
    for hours in (2, 5, 9):
        admit(stores, f"t-{hours}", raw=0.0, occurred_at=NOON - timedelta(hours=hours))
    stores.clock.advance(7200)
    for number in range(3):
        admit(stores, f"new-{number}", raw=0.0, occurred_at=NOON + timedelta(hours=1))
    found = [low.trace_id for low in watching.list_lowest(SHOP, judge="lexical")]
    assert (len(found), set(found[:3])) == (5, {"new-0", "new-1", "new-2"})


def test_the_lowest_are_found_behind_many_of_another_place(stores, watching, monkeypatch):
    monkeypatch.setattr("ragsonde.storage.watched_lowest._FIRST_LOOK", 2)
    for number in range(5):
        admit(stores, f"s-{number}", raw=0.0, environment="staging")
    admit(stores, "t-1", raw=0.7)
    assert [low.trace_id for low in watching.list_lowest(SHOP, judge="lexical")] == ["t-1"]


def test_questions_whose_contexts_lack_the_answer_are_counted(stores, watching):
    for number in range(4):
        admit(stores, f"t-{number}", insufficient=number == 0)
    (one,) = read_place(watching).judges
    assert (one.judge, one.looked_at, one.assessed, one.insufficient) == ("lexical", 4, 4, 1)


def test_states_are_of_the_place_alone(stores, watching):
    stores.traces.admit(make_trace("t-1", environment="production"), (plan_free(), plan_paid()))
    stores.traces.admit(make_trace("t-2", environment="production"), (plan_free(),))
    stores.traces.admit(make_trace("s-1", environment="staging"), (plan_paid(),))
    gpt, lexical = read_place(watching).judges
    assert (gpt.judge, dict(gpt.states), gpt.waiting) == ("gpt", {"waiting": 1}, 1)
    assert (lexical.judge, dict(lexical.states)) == ("lexical", {"scored": 2})


def test_a_trace_is_read_whole_and_an_unknown_one_is_empty(stores, watching):
    admit(stores, "t-1")
    assert watching.read_trace("t-1").revisions[0].trace.trace_id == "t-1"
    assert watching.read_trace("t-2").revisions == ()


def test_spending_stands_beside_its_limit(watching):
    (spending,) = watching.list_spending()
    assert (spending.judge, spending.spent.calls, spending.limit.calls) == ("gpt", 0, 100)


def test_the_names_of_series_are_read(stores, watching):
    with stores.engine.begin() as connection:
        connection.execute(
            text("INSERT INTO label_budget VALUES ('app', '', '', 'shop', :now, :now, NULL)"), {"now": NOON}
        )
    assert watching.read_names().apps == ("shop",)
