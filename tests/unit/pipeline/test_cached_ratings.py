"""A rubric whose question has changed is asked again: its ratings are not taken from those given earlier."""

from __future__ import annotations

import pytest

from fakes.judge import FakeJudge
from fakes.stages import make_stages, states
from fakes.traces import make_envelope, make_trace
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.scoring.rubric import list_rubrics
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.assessment import Aspect

TONE = {"rubric:tone": {"question": "Is the answer polite?", "points": 5}}


def evaluate_with(config, *, given_for):
    """The judge, after a trace whose ratings were given earlier for another configuration."""
    rubrics = list_rubrics(build_scorers(config))
    judge = FakeJudge("gpt", is_free=False, rubrics=rubrics)
    stages = make_stages(judge, scorers=config)
    earlier = FakeJudge(rubrics=list_rubrics(build_scorers(given_for)))
    kept = earlier.assess(make_trace(), frozenset({Aspect.RUBRICS}))
    stages.traces.kept[judge.fingerprint, make_trace().content_hash] = kept
    ingest(make_envelope(), stages)
    assert states(stages) == {"gpt": "scored"}
    return judge


def test_the_same_question_is_not_asked_again():
    other_worth = {**TONE, "signal_share": {"threshold": 0.5}}
    assert evaluate_with(TONE, given_for=TONE).asked == []
    assert len(evaluate_with(other_worth, given_for=TONE).asked) == 1


@pytest.mark.parametrize(
    "change",
    [{"question": "Is the answer kind?"}, {"points": 4}, {"points": None, "labels": {"yes": 1, "no": 0}}],
    ids=["question", "scale", "labels"],
)
def test_another_question_or_scale_is(change):
    changed = {"rubric:tone": {**TONE["rubric:tone"], **change}}
    assert len(evaluate_with(changed, given_for=TONE).asked) == 1


def test_labels_that_are_worth_something_else_are_no_other_question():
    question = {"question": "Is the answer polite?"}
    before, after = (
        {"rubric:tone": {**question, "labels": {"yes": 1, "so so": worth, "no": 0}}} for worth in (0.5, 0.8)
    )
    assert evaluate_with(after, given_for=before).asked == []
