"""An alert on the page: now beside before, what is new, and the traces that show it."""

import re
from datetime import timedelta

import pytest
from markupsafe import escape

from builders.alert_rules import read_rules
from fakes.watching import (
    NOON,
    SHOP,
    FakeWatching,
    make_activity,
    make_counts,
    make_listed,
    make_place,
    make_summary,
    make_window,
)
from ragsonde.page.alert_view import view_alert
from ragsonde.page.alerts import ALERTS
from ragsonde.page.views import Views
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.label_names import LabelNames
from ragsonde_schemas.watched_alert import AlertEvidence, Change, ChangeKind
from ragsonde_schemas.watched_list import Sign

WINDOWS = (
    make_window(
        states={"scored": 140, "not_evaluable": 60},
        causes={Cause.EMPTY_RETRIEVAL: 60},
        assessed=100,
        insufficient=25,
    ),
    make_window(
        1,
        hours=24,
        states={"scored": 194, "not_evaluable": 6},
        causes={Cause.EMPTY_RETRIEVAL: 4, Cause.NO_CONTEXT: 2},
    ),
    make_window(25, hours=168),
)
RUNBOOKS = "docs/runbooks"
EXAMPLE = make_listed("t/1")


def show(name="RagsondeEmptyRetrieval", *, windows=WINDOWS, examples=(EXAMPLE,), link=None, **arguments):
    evidence = AlertEvidence(place=SHOP if "app" in arguments else None, windows=windows, examples=examples)
    watching = FakeWatching(evidence=evidence, places=[make_place()])
    return Views(watching=watching, scorers={}, runbook_link=link).show_alert(arguments, name)


def view(windows=WINDOWS, **changes):
    before = changes.pop("before", ())
    evidence = AlertEvidence(place=SHOP, windows=windows, examples=(), **changes)
    return view_alert(evidence, before=before, scorers={}, now=NOON)


def test_shares_stand_beside_those_before():
    shown = view()
    assert [name for name, _ in shown.causes] == ["empty retrieval", "no context"]
    assert [(line.name, line.shares, line.insufficient) for line in shown.lines] == [
        ("last hour", ("30\u00a0%", "0\u00a0%"), "25\u00a0%"),
        ("the day before", ("2\u00a0%", "1\u00a0%"), "not asked"),
        ("the week before", ("0\u00a0%", "0\u00a0%"), "not asked"),
    ]


def test_what_a_sample_left_out_dilutes_no_share():
    window = make_window(
        states={"sampled_out": 95, "failed": 5, "waiting": 2, "shed": 3}, causes={Cause.INVALID_REPLY: 5}
    )
    (line,) = view((window,)).lines
    assert (line.looked_at, line.scored, line.shares, line.left_out) == (
        "5",
        "0\u00a0%",
        ("100\u00a0%",),
        "3 shed, 2 waiting",
    )


def test_a_judge_that_looked_at_nothing_has_no_shares():
    (line,) = view((make_window(states={"sampled_out": 9}),)).lines
    assert (line.looked_at, line.scored) == ("0", "-")


def test_a_stretch_in_which_nothing_came_does_not_lend_its_name():
    assert [line.name.endswith("UTC") for line in view(WINDOWS[1:]).lines] == [True, True]


def test_a_part_is_said():
    assert view((make_window(share=0.25),)).lines[0].part == "in a sample of 25\u00a0%"


def test_each_stream_is_compared_with_itself_alone():
    other = make_summary().stream.model_copy(update={"version": "1+abcdef"})
    shown = view(
        before=(make_summary(), make_summary(stream=other, mean=0.1, scorer="other")),
        scorers=(make_summary(mean=0.2),),
    )
    first, second = shown.comparisons
    assert (first.before.mean, first.now.mean) == ("0.60", "0.20")
    assert (second.before.mean, second.now) == ("0.10", None)
    assert "bin=9" in first.before.histogram
    assert "<a " not in first.now.histogram  # the list would be of a day


def test_what_is_new_is_told_with_its_age():
    change = Change(kind=ChangeKind.RELEASE, name="2.5.0", since=NOON - timedelta(hours=2))
    (line,) = view(changes=(change,)).changes
    assert (line.what, line.name, line.age) == ("release", "2.5.0", "2 h ago")


def test_traces_that_show_it_are_linked():
    html = show(app="shop", environment="production")
    assert 'href="/trace?app=shop&amp;id=t%2F1"' in html
    assert "Retrieval returns nothing more often" in html


def test_no_trace_that_shows_it_is_said():
    assert "No trace of the last 24 hours shows it." in show(app="shop", examples=())


def test_an_alert_of_no_place_lists_traces_of_all_and_leads_to_each_place():
    html = show("RagsondeJudgeErrors")
    assert 'href="/trace?app=shop&amp;id=t%2F1"' in html
    assert "shop, production" in html
    assert 'href="/alerts/RagsondeJudgeErrors?app=shop&amp;environment=production"' in html
    assert "Where every trace went" in html
    assert ">38</a>" in html  # scored by lexical, in the ledger of all


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("RagsondeJudgeErrors", Sign.FAILED),
        ("RagsondeJudgeDown", Sign.LEFT_OUT),
        ("RagsondeCoverageDrop", Sign.LEFT_OUT),
        ("RagsondeExtractionChanged", Sign.NO_CONTEXT),
    ],
)
def test_what_shows_an_alert_is_looked_for_in_all_apps_where_it_names_none(name, sign):
    watching = FakeWatching()
    Views(watching=watching, scorers={}).show_alert({}, name)
    assert watching.asked == [(None, sign)]


def show_folded(arguments, *, places, **names):
    watching = FakeWatching(places=places, names=LabelNames(**names))
    return Views(watching=watching, scorers={}).show_alert(arguments, "RagsondeNoTraces"), watching


def test_an_alert_about_other_says_what_that_is_and_lists_what_is_folded_into_it():
    places = [make_place(make_activity(app)) for app in ("shop", "small", "tiny")]
    arguments = {"app": "other", "environment": "production"}
    html, watching = show_folded(arguments, places=places, apps=("shop",), environments=("production",))
    assert "no app&#39;s name" in html or "no app's name" in html
    assert 'href="/alerts/RagsondeNoTraces?app=small&amp;environment=production"' in html
    assert "app=tiny" in html
    assert "app=shop&amp;environment=production" not in html
    assert watching.asked == []


def test_an_environment_that_is_other_is_explained_too():
    places = [make_place(make_activity("shop", "pr-17")), make_place(make_activity("shop", "production"))]
    arguments = {"app": "shop", "environment": "other"}
    html, _ = show_folded(arguments, places=places, apps=("shop",), environments=("production",))
    assert "environment=pr-17" in html
    assert "environment=production" not in html


def test_other_without_a_folded_app_is_explained_all_the_same():
    html, _ = show_folded({"app": "other", "environment": "production"}, places=[], apps=("shop",))
    assert "whichever was is silent now" in html


def test_an_unknown_alert_is_not_there():
    assert show("Unknown") is None


def test_the_runbook_is_linked_where_its_place_is_known():
    assert 'href="https://wiki.example/RagsondeParked"' in show(
        "RagsondeParked", link="https://wiki.example/{alert}"
    )
    assert 'href="/runbooks/RagsondeParked"' in show("RagsondeParked")


@pytest.mark.parametrize("name", ALERTS)
def test_every_alert_has_a_page(name):
    assert escape(ALERTS[name].title) in show(name)


def test_judges_of_all_apps_are_summed_in_one_ledger():
    places = [make_place(judges=(make_counts(),)), make_place(make_activity("help"), judges=(make_counts(),))]
    html = Views(watching=FakeWatching(places=places), scorers={}).show_alert({}, "RagsondeParked")
    assert re.search(r'judge=lexical&amp;state=scored">76</a>', html)


SUMMARIES = {rule.name: rule.body["annotations"]["summary"] for rule in read_rules() if rule.is_alert}


@pytest.mark.parametrize("name", sorted(set(ALERTS) & set(SUMMARIES)))
def test_the_page_the_rule_and_the_runbook_say_the_same(name, request):
    assert ALERTS[name].title == SUMMARIES[name].replace(
        " of {{ $labels.app }} ({{ $labels.environment }})", ""
    )
    page = (request.config.rootpath / RUNBOOKS / f"{name}.md").read_text()
    meaning = re.search(r"^## Meaning\n(.*?)^## ", page, re.DOTALL | re.MULTILINE)[1]
    assert ALERTS[name].meaning == " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", meaning).split())
