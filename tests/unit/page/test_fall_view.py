"""A fall that was told: its words, figures, pictures and life."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from fakes.watching import NOON, make_fall, make_points
from ragsonde.page.fall_charts import draw_course, draw_drop
from ragsonde.page.fall_facts import list_facts
from ragsonde.page.fall_life import list_commands, list_steps, say_standing
from ragsonde.page.fall_view import describe_line, view_fall
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.watched_fall import FallDetail, ScoreSpread

SCORERS = {scorer.instance: scorer for scorer in build_scorers(None)}
HOUR = timedelta(hours=1)
PUT_AWAY = "a page, put away, not recovered"


def view(fall=None, *, scorers=SCORERS, points=(), threshold_days=4380.0):
    detail = FallDetail(
        fall=fall or make_fall(), step_seconds=3600, points=points, threshold_days=threshold_days
    )
    return view_fall(detail, scorers, now=NOON)


def test_a_sentence_says_what_fell_how_far_since_when_and_how_it_stands():
    found = view()
    assert found.sentence == ("weighted relevance fell by .12 (.08 to .16) since 10:00 UTC: a page, open")
    assert (found.place.words, found.place.link) == (
        "shop, production",
        "/?app=shop&environment=production",
    )
    assert found.scorer == "context_relevance by lexical@ffffff"


def test_figures_say_how_sure_in_plain_words():
    figures = dict(view().figures)
    assert figures["mean of the baseline, and since then"] == "0.82, then 0.70"
    assert figures["by chance alone"] == "once in 4,581 days; a page needs 4,380 days, a warning 30"
    assert figures["of traces of the same kind"] == "fell by .12"
    assert figures["because there are more of the hard kinds"] == ".01 more"
    assert figures["traces since then, when it was told"] == "412"
    assert not [words for words in figures if "phi" in words or "eps" in words]


@pytest.mark.parametrize(
    ("shift", "said"), [(0.0049, "no part of it"), (-0.0049, "no part of it"), (-0.05, ".05 less")]
)
def test_what_the_mix_adds_may_be_nothing_or_less(shift, said):
    figures = dict(view(make_fall(explanation={"mix_shift": shift})).figures)
    assert figures["because there are more of the hard kinds"] == said


def test_endless_evidence_is_not_a_number():
    figures = dict(view(make_fall(explanation={"evidence_days": 1e9}), threshold_days=None).figures)
    assert figures["by chance alone"] == "once in more than 1,000 years"


def test_values_are_on_the_scorers_scale():
    scorers = {one.instance: one for one in build_scorers({"context_relevance": {"scale": 10}})}
    found = view(scorers=scorers)
    assert "fell by 1.20 (.80 to 1.60)" in found.sentence
    assert found.strata == (("contexts:4-6", "2.00", "120"),)
    assert found.traces[0].value == "0.50"


def test_worst_traces_lead_to_the_verdicts_of_the_judge_whose_scores_fell():
    (trace,) = view().traces
    assert (trace.trace_id, trace.value) == ("t-9", "0.05")
    assert trace.link == "/traces/t-9?app=shop&judge=lexical%40ffffff"
    assert trace.at == "2026-10-07 10:41:00 UTC"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2026-10-07T09:40:00Z", "20 min before the fall"),
        ("2026-10-07T10:03:00Z", "as the fall began"),
        ("2026-10-07T11:00:00+00:00", "1 h after it began"),
        ("no time", "no time"),
    ],
)
def test_changes_stand_beside_the_beginning(at, said):
    changes = [{"kind": "release", "name": "2.5.0", "at": at}]
    assert view(make_fall(explanation={"changes": changes})).changes == (("release", "2.5.0", said),)


def test_an_explanation_of_an_older_version_is_shown_as_far_as_it_goes():
    fall = make_fall().model_copy(update={"explanation": {"drop": 0.1, "drop_lower": 0.0, "drop_upper": 0.2}})
    found = view(fall)
    assert (found.traces, found.strata, found.facts, found.changes) == ((), (), (), ())
    assert [words for words, _ in found.figures] == ["began"]


@pytest.mark.parametrize("found", [None, "deep", {}, {"a": 1}, [], [1, "t", {}, None], True])
@pytest.mark.parametrize(
    "key",
    [*make_fall().explanation, "extraction", "contexts", "answers", "check_set", "recovery"],
)
def test_an_explanation_of_another_shape_breaks_nothing(key, found):
    fall = make_fall(explanation={key: found}, closed_at=NOON, kind="resolve")
    assert view(fall).title == "weighted relevance fell"


def test_scores_before_and_since_stand_beside_each_other():
    before = ScoreSpread(since=NOON - 100 * HOUR, until=NOON - 2 * HOUR, bins=(0,) * 8 + (300, 900))
    after = ScoreSpread(since=NOON - 2 * HOUR, until=NOON, bins=(1, *(0,) * 9))
    detail = FallDetail(fall=make_fall(), step_seconds=3600, before=before, after=after)
    old, new = view_fall(detail, SCORERS, now=NOON).spreads
    assert (old.words, old.time, old.n) == (
        "before, in the baseline",
        "Oct 3, 08:00 to 10:00 UTC",
        "1,200 scores",
    )
    assert ".9 to 1: 900 of 1,200" in old.histogram
    assert 'aria-label="context_relevance by lexical@ffffff, since it began: 1 scores' in new.histogram
    assert (new.time, new.n) == ("10:00 to 12:00 UTC", "1 score")
    lost = view_fall(detail.model_copy(update={"before": None}), SCORERS, now=NOON).spreads[0]
    assert (lost.n, lost.histogram) == ("none is kept", "")
    assert view().spreads == ()


def test_the_life_of_a_fall_is_told_in_order():
    fall = make_fall(
        kind="resolve",
        acked_at=NOON - timedelta(minutes=50),
        closed_at=NOON - timedelta(minutes=5),
        explanation={"recovery": {"mean": 0.81, "drop": 0.01}},
    )
    steps = list_steps(fall, scale=1.0, now=NOON)
    assert [(step.what, step.age) for step in steps] == [
        ("began, by what is known", "2 h ago"),
        ("told as a warning", "1 h ago"),
        ("became a page", "1 h ago"),
        ("acknowledged", "50 min ago"),
        ("recovered", "5 min ago"),
    ]
    assert steps[-1].note == "mean 0.81, .01 below the baseline"


def test_a_fall_whose_stream_was_replaced_is_told_with_the_reason_and_never_as_recovered():
    fall = make_fall(closed_at=NOON, reason="its judge was changed")
    last = list_steps(fall, scale=1.0, now=NOON)[-1]
    assert (last.what, last.note) == ("put away, not recovered", "its judge was changed")


def test_an_end_by_recovery_stays_one_though_the_fall_is_called_false_later():
    fall = make_fall(kind="resolve", closed_at=NOON - HOUR, false_at=NOON)
    steps = [step.what for step in list_steps(fall, scale=1.0, now=NOON)]
    assert steps[-2:] == ["recovered", "called false"]


def test_a_fall_that_was_a_page_at_once_was_no_warning():
    fall = make_fall(opened_at=NOON, paged_at=NOON)
    assert [step.what for step in list_steps(fall, scale=1.0, now=NOON)][1:] == ["told as a page"]


@pytest.mark.parametrize(
    ("changes", "said", "tone"),
    [
        ({}, "a page, open", "bad"),
        ({"acked_at": NOON}, "a page, open, somebody knows of it", "bad"),
        ({"paged_at": None}, "a warning, open", "fair"),
        ({"closed_at": NOON, "kind": "resolve"}, "a page, recovered", "good"),
        ({"closed_at": NOON, "reason": "another stream took its place"}, PUT_AWAY, ""),
        ({"closed_at": NOON, "accepted_at": NOON}, "a page, accepted as the new normal", ""),
        ({"closed_at": NOON, "false_at": NOON}, "a page, called false", ""),
    ],
)
def test_how_a_fall_stands(changes, said, tone):
    assert say_standing(make_fall(**changes)) == (said, tone)
    assert describe_line(make_fall(**changes), SCORERS, now=NOON).standing == said


def test_commands_are_those_that_are_left():
    def verbs(**changes):
        return [command.split()[2] for command, _ in list_commands(make_fall(**changes))]

    assert verbs() == ["ack", "accept", "verify", "false"]
    assert verbs(acked_at=NOON) == ["accept", "verify", "false"]
    assert verbs(closed_at=NOON) == ["false"]
    assert verbs(closed_at=NOON, accepted_at=NOON) == []


def test_the_course_shows_means_baseline_and_beginning():
    points = make_points(0.8, 0.8, None, 0.8, 0.6, 0.6)
    course = draw_course(
        points, step=HOUR, since=NOON - 2 * HOUR, baseline=0.8, scale=1.0, name="relevance by lexical"
    )
    assert course.picture.count("<polyline") == 2  # the gap parts the line
    assert course.picture.count('class="dot"') == 5
    assert course.picture.count('class="level"') == course.picture.count('class="since"') == 1
    # a third of six hours is left of the drawing's 468: 6 + 468 * 4 / 6
    assert 'class="since" x1="318.0"' in course.picture
    assert (
        'aria-label="relevance by lexical: 5 means, 0.80 on average before the fall, 0.60 on'
        in course.picture
    )
    # .7 is the middle, and .11 on each side a tenth more than the means need
    assert (course.lower, course.upper) == ("0.59", "0.81")


def test_what_only_chance_does_is_drawn_flat():
    course = draw_course(
        make_points(0.501, 0.5, 0.499), step=HOUR, since=NOON, baseline=None, scale=1.0, name="x"
    )
    heights = [float(y) for y in re.findall(r"M[\d.]+,([\d.]+)h0", course.picture)]
    assert max(heights) - min(heights) < 3


def test_there_may_be_no_mean_left():
    assert draw_course((), step=HOUR, since=NOON, baseline=0.8, scale=1.0, name="x") is None
    assert view().course is None


def test_the_drop_lies_in_its_interval():
    picture = draw_drop(0.12, lower=0.08, upper=0.16, scale=1.0)
    zero, found = (float(x) for x in re.findall(r'x1="([\d.]+)"', picture))
    left, width = map(float, re.search(r'x="([\d.]+)" y="6" width="([\d.]+)"', picture).groups())
    assert zero == 6.0
    assert left < found < left + width
    assert 'aria-label="fell by .12, likely between .08 and .16"' in picture


def test_every_mean_leads_to_the_traces_of_its_day():
    (line,) = view(points=make_points(0.7)).points
    assert (line.mean, line.scores.words) == ("0.70", "60")
    query = {name: value for name, (value,) in parse_qs(urlsplit(line.scores.link).query).items()}
    assert query == {
        "app": "shop",
        "environment": "production",
        "judge": "lexical",
        "scorer": "context_relevance",
        "version": "1",
        "fingerprint": "f" * 16,
        "epoch": "1",
        "scored": "yes",
        "day": "2026-10-07",
    }


def test_what_may_explain_it_is_told_with_what_it_means():
    spread = {"mean": 5.0, "p10": 3.0, "p50": 5.0, "p90": 8.0}
    told = {
        "extraction": {
            "moved": [{"field": "contexts", "rule": "native:contexts", "before": 0.98, "after": 0.4}],
            "n_before": 900,
            "n_after": 300,
        },
        "contexts": {
            "count": {"before": spread, "after": {**spread, "mean": 2.5, "p50": 2.0}},
            "n_before": 9,
            "n_after": 9,
        },
        "check_set": {"drift": -0.2, "stderr": 0.01, "before": 0.8, "after": 0.6, "n": 40, "has_moved": True},
        "answers": {
            "retrieval_before": 0.7,
            "retrieval_after": 0.71,
            "answer_before": 0.8,
            "answer_after": 0.5,
            "declined_before": 0.02,
            "declined_after": 0.3,
            "n_before": 9,
            "n_after": 9,
        },
    }
    facts = {fact.about: fact for fact in list_facts(told, scale=1.0)}
    assert list(facts) == ["extraction", "contexts of a trace", "answers", "check set"]
    assert facts["extraction"].words == (
        "contexts by the rule native:contexts: 98\u00a0%, then 40\u00a0% of traces",
    )
    assert facts["contexts of a trace"].words == (
        "5.0 on average before the fall, 2.5 since",
        "the middle one 5, then 2",
    )
    assert facts["answers"].words[1] == "contexts fit question and answer: 0.80, then 0.50"
    assert facts["check set"].words == ("the judge's mean of the same 40 traces: 0.80, then 0.60",)
    assert facts["check set"].meaning.startswith("The judge itself scores")
    stayed = {"check_set": told["check_set"] | {"has_moved": False, "is_steady": True}}
    assert list_facts(stayed, scale=1.0)[0].meaning.endswith("the fall is not the judge's.")
    for unknown in ({"has_moved": False, "is_steady": False}, {"has_moved": False}):
        (fact,) = list_facts({"check_set": told["check_set"] | unknown}, scale=1.0)
        assert fact.meaning.startswith("Whether the judge moved is not known")
    one = {"check_set": told["check_set"] | {"n": 1}}
    assert list_facts(one, scale=1.0)[0].words == ("the judge's mean of the same 1 trace: 0.80, then 0.60",)


def test_answers_that_nobody_could_look_at_have_no_fit():
    told = {
        "answers": dict.fromkeys(("retrieval_before", "retrieval_after", "declined_before"), 0.5)
        | {"declined_after": 1.0, "answer_before": 0.5, "answer_after": None}
    }
    assert [words.partition(":")[0] for words in list_facts(told, scale=1.0)[0].words] == [
        "contexts fit the questions",
        "without an answer",
    ]
