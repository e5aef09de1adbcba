"""An alert on the page: now beside before, and the traces that show it."""

import pytest
from markupsafe import escape

from fakes.clock import NOON
from fakes.watching import FakeWatching, make_window
from ragsonde.page.alert_view import view_alert
from ragsonde.page.alerts import ALERTS
from ragsonde.page.views import Views
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.watched import AlertEvidence, ExampleTrace, Place

SHOP = Place(app="shop", environment="production")
WINDOWS = (
    make_window(causes={Cause.EMPTY_RETRIEVAL: 60}, assessed=100, insufficient=25),
    make_window(1, hours=24, causes={Cause.EMPTY_RETRIEVAL: 4, Cause.NO_CONTEXT: 2}),
    make_window(25, hours=168),
)
EXAMPLE = ExampleTrace(trace_id="t/1", record_key="", occurred_at=NOON, release="2.4.0")


def show(name="RagsondeEmptyRetrieval", *, windows=WINDOWS, examples=(EXAMPLE,), link=None, **arguments):
    evidence = AlertEvidence(place=SHOP, windows=windows, examples=examples)
    views = Views(watching=FakeWatching(evidence=evidence), scorers={}, runbook_link=link)
    return views.show_alert(arguments, name)


def test_shares_stand_beside_those_before():
    view = view_alert(AlertEvidence(place=SHOP, windows=WINDOWS, examples=()))
    assert [name for name, _ in view.causes] == ["empty retrieval", "no context"]
    assert [(line.name, line.shares, line.insufficient) for line in view.lines] == [
        ("last hour", ("30 %", "0 %"), "25 %"),
        ("the day before", ("2 %", "1 %"), "not asked"),
        ("the week before", ("0 %", "0 %"), "not asked"),
    ]


def test_a_stretch_in_which_nothing_came_does_not_lend_its_name():
    view = view_alert(AlertEvidence(place=SHOP, windows=WINDOWS[1:], examples=()))
    assert [line.name.endswith("UTC") for line in view.lines] == [True, True]


def test_traces_that_show_it_are_linked():
    html = show(app="shop", environment="production")
    assert 'href="/traces/t/1?app=shop"' in html
    assert "Retrieval returns nothing more often" in html


def test_no_trace_that_shows_it_is_said():
    assert "No trace of the last day shows it." in show(app="shop", examples=())


def test_an_alert_of_no_place_shows_where_every_trace_went():
    assert "Where every trace went" in show("RagsondeParked")


def test_an_unknown_alert_is_not_there():
    assert show("Unknown") is None


def test_the_runbook_is_linked_where_its_place_is_known():
    assert 'href="https://wiki.example/RagsondeParked"' in show(
        "RagsondeParked", link="https://wiki.example/{alert}"
    )
    assert "docs/runbooks/RagsondeParked.md" in show("RagsondeParked")


@pytest.mark.parametrize("name", ALERTS)
def test_every_alert_has_a_page(name):
    assert escape(ALERTS[name].title) in show(name)
