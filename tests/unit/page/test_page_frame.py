"""What stands around every view: where to go, how old it is, and foreign names kept in their place."""

from __future__ import annotations

import re

import pytest

from fakes.histories import evaluate, tell
from fakes.judged_traces import make_trace
from fakes.watching import make_activity, make_counts, make_listed, make_place, make_summary
from ragsonde.page.overview import view_ledger
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.newer_words import read_word
from ragsonde_schemas.watched import LedgerSummary
from services.page_client import TOKEN, ask

TURNED = "\u202eabc"
VIEWS = (
    "/",
    "/?app=silent",
    "/places",
    "/traces",
    "/traces/t-1",
    "/alerts",
    "/alerts/RagsondeEmptyRetrieval",
)
LATE = read_word(EvaluationState, "postponed")
STRANGE = read_word(Cause, "model_on_holiday")


def plant(watching, app="shop"):
    trace = make_trace(TURNED, trace_id="t-1", app=app, query=TURNED, answer=TURNED)
    watching.places = [make_place(make_activity(app, TURNED))]
    watching.listed = (make_listed(TURNED, app=app, environment=TURNED, release=TURNED, reason=TURNED),)
    watching.histories = {"t-1": tell(trace, evaluate(trace), environment=TURNED, release=TURNED)}


@pytest.mark.parametrize("path", [*VIEWS, "/runbooks/RagsondeQueueOld", "/traces/nothing"])
def test_every_view_says_as_of_when_it_is(start, watching, path):
    plant(watching)
    assert "As of 12:00:00 UTC" in ask(start(), path)[2]


@pytest.mark.parametrize("path", VIEWS)
def test_a_foreign_name_turns_nothing_around_it(start, watching, path):
    plant(watching, TURNED)
    body = ask(start(), path)[2]
    inside = re.compile(r"<bdi>(?:(?!</bdi>).)*</bdi>", re.DOTALL)
    assert "\u202e" not in inside.sub("", body)


def test_a_dozen_places_stand_above_and_all_others_are_found(start, watching):
    watching.places = [make_place(make_activity(f"app-{number}")) for number in range(30)]
    server = start()
    body = ask(server, "/?app=app-20")[2]
    nav = re.search(r'<nav aria-label="Applications".*?</nav>', body, re.DOTALL)[0]
    assert nav.count("<bdi>") == 13
    assert 'aria-current="page"><bdi>app-20' in nav
    assert 'href="/places">all 30 apps</a>' in nav
    listed = ask(server, "/places")[2]
    assert all(f"<bdi>app-{number}, production</bdi>" in listed for number in range(30))
    assert 'name="app"' in listed


def test_who_has_a_session_can_end_it_and_nobody_else_is_asked_to(start):
    button = '<form method="post" action="/logout"><button type="submit">Log out</button></form>'
    held = {"Authorization": f"Bearer {TOKEN}"}
    assert button in ask(start(auth="token", token=TOKEN), "/", **held)[2]
    assert button not in ask(start(), "/")[2]


def test_the_series_are_linked_where_a_browser_may_read_them(start):
    assert 'href="/metrics"' in ask(start(), "/")[2]
    assert 'href="/metrics"' not in ask(start(metrics_token="scrape-me"), "/")[2]


def test_all_alerts_are_listed(start):
    status, _, body = ask(start(), "/alerts")
    assert status == 200
    assert body.count('href="/alerts/Ragsonde') == 23


def test_an_app_without_an_environment_has_no_empty_brackets(start, watching):
    watching.places = [make_place(make_activity("shop", ""))]
    for path in ("/", "/?app=shop&environment=", "/alerts/RagsondeNoTraces?app=shop&environment="):
        body = ask(start(), path)[2]
        assert "<bdi>shop</bdi>" in body
        assert "()" not in body


def test_words_of_a_newer_version_are_shown_as_they_stand(start, watching):
    counts = make_counts(states={EvaluationState.SCORED: 1, LATE: 7}, causes={STRANGE: 7})
    watching.places = [make_place(judges=(counts,), scorers=(make_summary(unscored={STRANGE: 7}),))]
    watching.parked = {read_word(ParkReason, "too_new"): 3}
    watching.listed = (make_listed("t-2", judge="gpt", state=LATE, cause=STRANGE),)
    trace = make_trace(trace_id="t-1", app="shop")
    evaluation = evaluate(trace, state=LATE, cause=STRANGE)
    watching.histories = {"t-1": tell(trace, evaluation)}
    server = start()
    overview = ask(server, "/")[2]
    assert "7 model on holiday" in overview
    assert "3 too new" in overview
    assert "postponed, model on holiday" in ask(server, "/traces")[2]
    shown = ask(server, "/traces/t-1")[2]
    assert "<bdi>postponed</bdi>; <bdi>model on holiday</bdi>" in shown
    assert ask(server, "/alerts/RagsondeParked")[0] == 200


def test_a_state_of_a_newer_version_has_a_column_and_no_list():
    counts = make_counts(states={EvaluationState.SCORED: 1, LATE: 7})
    view = view_ledger(LedgerSummary(revisions=8, judges=(counts,)), place=None)
    assert view.states == ("scored", "postponed")
    assert [cell.link != "" for cell in view.lines[0].cells] == [True, False]
