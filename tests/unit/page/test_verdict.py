"""Whether a place is steady, in words."""

from datetime import timedelta

import pytest

from fakes.watching import NOON, SHOP, make_summary, make_watched
from ragsonde.page.stream_marks import find_mark
from ragsonde.page.verdict import NOTHING_COUNTED, describe_verdict
from ragsonde.page.wording import say_drop, say_since
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.watched_fall import Arming, FallWatch

SCORERS = {
    scorer.instance: scorer
    for scorer in build_scorers({"context_position": {"scale": 10}, "context_relevance": None})
}
FALL = {
    "fall": 7,
    "since": NOON.replace(hour=10, minute=5),
    "drop": 0.12,
    "drop_lower": 0.08,
    "drop_upper": 0.16,
}


def judge(*streams, until=NOON):
    return describe_verdict(FallWatch(judged_until=until, streams=streams), SHOP, scorers=SCORERS, now=NOON)


def arm(share=0.6286, traces=400, needed=500, **changes):
    return Arming(share=share, traces=traces, needed=needed, since=NOON - timedelta(days=4.4), **changes)


def test_steady_says_what_it_could_see():
    found = judge(make_watched("context_relevance"))
    assert (found.state, found.tone, found.link, found.lag) == ("steady", "good", "", "")
    assert found.words == "no fall of scores is open; the smallest fall this baseline would show is .04"


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        (({"judged_since": 9.9},), "steady for 9 days"),
        (({"judged_since": 40, "fell_until": 1.2},), "steady for 1 day"),
        (({"judged_since": 40}, {"judged_since": 9, "fell_until": 3.5}), "steady for 3 days"),
        (({"judged_since": 0.3}, {"judged_since": 40}), "steady for 40 days"),
        (({"judged_since": 0.3},), "steady for 7 hours"),
        (({"judged_since": 0.01},), "steady"),
        (({"judged_since": -1},), "steady"),
    ],
)
def test_steady_says_for_how_long_since_the_last_fall_or_since_it_is_judged(spans, said):
    streams = [
        make_watched(version=str(number), **{name: NOON - timedelta(days=days) for name, days in one.items()})
        for number, one in enumerate(spans)
    ]
    assert judge(*streams).state == said


def test_a_fall_says_how_seldom_chance_alone_would_show_it():
    found = judge(make_watched("context_relevance", state="fell", evidence_days=400.2, **FALL))
    assert found.words == (
        "weighted relevance fell by .12 (.08 to .16) since 10:05, a page: chance alone would show this "
        "once in 400 days"
    )
    endless = judge(make_watched(state="suspected", evidence_days=1e9, is_acked=True, **FALL)).words
    assert endless.endswith("would show this once in more than 1,000 years; somebody knows of it")


def test_a_fall_without_numbers_is_told_without_them():
    found = judge(make_watched("context_relevance", state="fell", fall=7, since=FALL["since"]))
    assert found.words == "weighted relevance fell since 10:05, a page"


def test_several_baselines_say_between_what():
    found = judge(make_watched("context_relevance", smallest_drop=0.031), make_watched("context_precision"))
    assert found.words.endswith("the smallest fall these baselines would show is .03 to .04, by scorer")
    assert found.others is None


def test_a_page_says_how_far_and_since_when_and_leads_to_the_fall():
    found = judge(make_watched("context_relevance", state="fell", **FALL))
    assert (found.state, found.tone, found.link) == ("fell", "bad", "/falls/7")
    assert found.words == "weighted relevance fell by .12 (.08 to .16) since 10:05, a page"


def test_a_fall_is_told_on_the_scorers_scale_and_what_somebody_knows_is_said():
    found = judge(make_watched(state="suspected", is_acked=True, **FALL))
    assert found.words == "position fell by 1.20 (.80 to 1.60) since 10:05, a warning; somebody knows of it"


def test_the_worst_comes_first_and_the_others_are_counted():
    found = judge(
        make_watched("context_precision"),
        make_watched("context_relevance", state="suspected", **FALL),
        make_watched("essential_context", state="fell", **{**FALL, "fall": 8}),
        make_watched(state="arming", smallest_drop=None, baseline_kind=None, arming=arm()),
    )
    assert (found.state, found.link) == ("fell", "/falls/8")
    assert found.others.words == "3 other streams: 1 suspected, 1 arming, 1 steady"
    assert found.others.link == "/falls?app=shop&environment=production&state=open"


def test_of_two_falls_the_larger_is_worse():
    deeper = {**FALL, "fall": 9, "drop": 0.3}
    found = judge(
        make_watched("context_relevance", state="fell", **FALL),
        make_watched("context_precision", state="fell", **deeper),
    )
    assert found.link == "/falls/9"


def test_arming_says_how_far_it_has_come():
    found = judge(make_watched("context_relevance", state="arming", smallest_drop=None, arming=arm()))
    assert f"{found.state}, {found.words}" == (
        "arming, 62\u00a0%: a baseline is pinned after 7 days and 500 traces (so far 400 traces"
        " since Oct 3, 02:24); until then no fall is told of weighted relevance"
    )


def test_what_is_armed_but_for_a_moment_is_not_all_of_it():
    found = judge(make_watched(state="arming", smallest_drop=None, arming=arm(1.0)))
    assert found.words.startswith("99\u00a0%")


@pytest.mark.parametrize(
    ("waits", "said"),
    [
        ("backfill", "62\u00a0%: stored traces are judged to make its baseline, 400 of 500"),
        ("rescore", "62\u00a0%: stored verdicts are scored to make its baseline, 400 of 500"),
        ("choice", "and waits for you: its first 7 days brought 400 traces, of 500 that a baseline takes"),
    ],
)
def test_arming_says_what_it_waits_for(waits, said):
    arming = arm(waits_for=waits)
    assert said in judge(make_watched(state="arming", smallest_drop=None, arming=arming)).words


def test_a_floor_is_not_said_to_show_every_fall():
    assert judge(make_watched(baseline_kind="floor")).words == "no fall of scores is open"


def test_a_provisional_baseline_is_said():
    found = judge(make_watched(baseline_kind="provisional"))
    assert "by a provisional baseline, which warns and never pages: a baseline is pinned" in found.words


def test_held_says_why_even_for_a_reason_of_another_version():
    found = judge(make_watched(state="held", hold="coverage"))
    assert "position is not judged now, as far more of its judgements fail" in found.words
    moved = judge(make_watched(state="held", hold="extraction: contexts by native:contexts")).words
    assert "found by other rules than a day ago" in moved
    assert moved.endswith("is read (contexts by native:contexts)")
    assert "a guard holds it, moon phase" in judge(make_watched(state="held", hold="moon_phase")).words


def test_several_judges_are_told_apart():
    found = judge(make_watched(state="fell", **FALL), make_watched(judge="gpt"))
    assert found.words.startswith("position by lexical fell")


def test_other_places_do_not_count():
    found = judge(make_watched(environment="staging", state="fell", **FALL))
    assert (found.state, found.words) == ("", NOTHING_COUNTED)


@pytest.mark.parametrize(("minutes", "is_said"), [(19, False), (25, True)])
def test_judging_that_lags_is_said(minutes, is_said):
    lag = judge(make_watched(), until=NOON - timedelta(minutes=minutes)).lag
    assert bool(lag) is is_said
    if is_said:
        assert lag == "Judging lags: scores are counted and judged only until 11:35 UTC, 25 min ago"


def test_a_mark_is_of_its_own_stream_alone():
    fallen = make_watched(state="fell", version="2", **FALL)
    steady = make_watched()
    mark = find_mark([fallen, steady], make_summary().stream, scorers=SCORERS)
    assert (mark.words, mark.link, mark.tone) == ("steady", "", "good")
    assert mark.note == "its baseline would show a fall of .40 or more"
    stream = make_summary().stream.model_copy(update={"version": "2"})
    mark = find_mark([fallen, steady], stream, scorers=SCORERS)
    assert (mark.words, mark.link) == ("fell 1.20", "/falls/7")
    assert find_mark([], stream, scorers=SCORERS) is None


@pytest.mark.parametrize(
    ("state", "more", "words", "note"),
    [
        ("suspected", FALL, "suspected", "its baseline would show a fall of .40 or more"),
        ("arming", {"smallest_drop": None, "arming": arm()}, "arming, 62\u00a0%", ""),
        ("arming", {"smallest_drop": None, "arming": arm(waits_for="choice")}, "no baseline", ""),
        ("steady", {"baseline_kind": "floor"}, "steady", "held to a floor, as there is no baseline"),
        ("unwatched", {"smallest_drop": None}, "not watched", "its scores have no room to fall"),
    ],
)
def test_marks_of_the_other_states(state, more, words, note):
    mark = find_mark([make_watched(state=state, **more)], make_summary().stream, scorers=SCORERS)
    assert (mark.words, mark.note) == (words, note)


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.12, ".12"), (1.2, "1.20"), (0.004, ".0040"), (0.0, ".00"), (-0.03, "-.03"), (0.999, "1.00")],
)
def test_drops(value, said):
    assert say_drop(value) == said


def test_moments_of_other_days_have_their_date():
    assert say_since(NOON - timedelta(days=1), now=NOON) == "Oct 6, 12:00"
    assert say_since(NOON - timedelta(days=300), now=NOON) == "Dec 11 2025, 12:00"
