"""The overview's words and figures."""

from datetime import timedelta

from fakes.watching import NOON, make_activity, make_ledger, make_place, make_summary
from ragsonde.page.overview import describe_state, list_cards, list_places, list_spending, list_states
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Limit, Period, Spent
from ragsonde_schemas.watched import Spending

SCORERS = {scorer.instance: scorer for scorer in build_scorers({"context_position": {"scale": 10}})}


def make_card(scorers=SCORERS, **changes):
    (card,) = list_cards(make_place(scorers=(make_summary(**changes),)), scorers)
    return card


def test_a_mean_is_shown_on_the_scale_with_its_interval_and_band():
    card = make_card()
    assert (card.name, card.value, card.interval) == ("position", "6.00", "5.02 to 6.98")
    assert (card.band, card.tone) == ("mixed", "fair")  # .4 to .7 of raw


def test_who_has_no_score_has_no_figure():
    card = make_card(n=0, mean=None, deviation=None, unscored={Cause.EMPTY_RETRIEVAL: 3})
    assert (card.value, card.interval, card.band) == ("", "", "")
    assert card.unscored == (("empty_retrieval", 3),)


def test_the_commonest_cause_comes_first():
    card = make_card(unscored={Cause.NO_CONTEXT: 1, Cause.EMPTY_RETRIEVAL: 5})
    assert card.unscored == (("empty_retrieval", 5), ("no_context", 1))


def test_a_scorer_that_is_configured_no_more_is_shown_all_the_same():
    card = make_card(scorers={})
    assert (card.name, card.value, card.band) == ("context_position", "0.60", "")


def test_a_scorer_without_a_better_way_has_no_band():
    scorers = {scorer.instance: scorer for scorer in build_scorers({"essential_context": None})}
    card = make_card(scorers=scorers, instance="essential_context")
    assert (card.value, card.band) == ("0.60", "")


def test_the_share_below_the_threshold():
    assert make_card(below=9).below == "25 %"
    assert make_card(below=None).below == ""


def test_one_sentence_says_how_it_stands():
    ledger = make_ledger(revisions=50, judges={"lexical": {"scored": 45}, "gpt": {"scored": 2}})
    sentence = describe_state(make_place(waiting=7), ledger, now=NOON)
    assert sentence == (
        "40 traces in the last 24 hours, 90 % of the app's scored; last trace 12 s ago, 7 waiting."
    )


def test_places_are_listed_with_the_shown_one_marked():
    shown, other = make_activity(), make_activity("help", last_admitted_at=NOON - timedelta(hours=3))
    lines = list_places([shown, other], shown=shown, now=NOON)
    assert [(line.name, line.age, line.is_shown) for line in lines] == [
        ("shop, production", "12 s ago", True),
        ("help, production", "3 h ago", False),
    ]


def test_only_states_that_occur_have_a_column():
    ledger = make_ledger(judges={"lexical": {"scored": 1, "failed": 0}, "gpt": {"shed": 2}})
    assert list_states(ledger) == (EvaluationState.SCORED, EvaluationState.SHED)


def test_spending_is_told_for_each_limit():
    spending = Spending(
        judge="gpt",
        spent=Spent(runs=3, calls=30, usd=1.25),
        limit=Limit(period=Period.DAY, calls=100, usd=5.0),
    )
    assert [line.text for line in list_spending([spending])] == [
        "$1.25 of $5.00 this day",
        "30 of 100 calls this day",
    ]
