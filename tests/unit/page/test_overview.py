"""The overview's words and figures."""

from datetime import timedelta

import pytest

from fakes.watching import NOON, SHOP, make_activity, make_counts, make_overview, make_place
from ragsonde.page.overview import (
    choose_place,
    describe_state,
    list_places,
    list_spending,
    view_ledger,
)
from ragsonde_schemas.spending import Limit, Period, Spent
from ragsonde_schemas.watched import LedgerSummary, Spending


def describe(*judges, **activity):
    return describe_state(make_place(make_activity(**activity), judges=judges), now=NOON)


def test_one_sentence_says_how_it_stands_with_a_clause_for_each_judge():
    free = make_counts(states={"scored": 38, "not_evaluable": 2})
    paid = make_counts("gpt", states={"failed": 4, "sampled_out": 30, "shed": 5, "waiting": 1})
    assert describe(free, paid) == (
        "40 traces in the last 24 hours, the last 12 s ago. lexical looked at 40 and scored 95\u00a0% of "
        "them; gpt looked at 4 and scored 0\u00a0% of them (1 waits, 30 outside its "
        "sample, 5 left out for its budget)."
    )


def test_a_judge_that_looked_at_nothing_has_no_share():
    assert describe(make_counts("gpt", states={"waiting": 2})).endswith("gpt looked at 0 (2 wait).")


def test_traces_without_a_judge_are_said():
    assert describe(traces=1) == "1 trace in the last 24 hours, the last 12 s ago. No judge looked at them."


def test_places_are_listed_with_the_shown_one_marked():
    other = make_activity("help", last_at=NOON - timedelta(hours=3))
    lines = list_places(make_overview(make_place(), make_place(other)), shown=SHOP)
    assert [(line.name, line.age, line.is_shown, line.link) for line in lines] == [
        ("shop, production", "12 s ago", True, "/?app=shop&environment=production"),
        ("help, production", "3 h ago", False, "/?app=help&environment=production"),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, "shop"), ({"environment": "staging"}, "help"), ({"environment": "nowhere"}, None)],
)
def test_the_busiest_that_fits_is_chosen_and_none_where_none_does(arguments, expected):
    overview = make_overview(make_place(), make_place(make_activity("help", "staging")))
    chosen = choose_place(overview, arguments, app=None)
    assert (chosen and chosen.activity.place.app) == expected
    assert choose_place(overview, {}, app="payments") is None


def test_only_states_that_occur_have_a_column_and_numbers_lead_to_their_traces():
    judges = (make_counts(states={"scored": 1, "failed": 0}), make_counts("gpt", states={"shed": 2}))
    view = view_ledger(LedgerSummary(revisions=3, judges=judges), place=SHOP)
    assert view.states == ("scored", "shed")
    assert [[cell.words for cell in line.cells] for line in view.lines] == [["1", "0"], ["0", "2"]]
    assert view.lines[1].cells[1].link == "/traces?app=shop&environment=production&judge=gpt&state=shed"
    assert view.lines[1].cells[0].link == ""


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
