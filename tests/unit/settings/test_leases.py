import json

import pytest

from ragsonde.judging.options import JudgeOptions
from ragsonde.settings import read_settings
from ragsonde_schemas.errors import ConfigError


def lease(judges):
    return read_settings(environ={"RAGSONDE_JUDGES": judges}).lease_seconds


def test_the_lease_is_the_longest_deadline_of_a_judge_that_calls_somebody_and_30_seconds():
    slow = '{"name": "slow", "kind": "litellm", "model": "openai/x", "deadline_seconds": 10.5}'
    fast = '{"name": "fast", "kind": "litellm", "model": "openai/x", "deadline_seconds": 3}'
    free = '{"name": "lexical", "kind": "lexical"}'
    assert lease(f"[{free}, {fast}, {slow}]") == 41
    assert lease(f"[{free}]") == 150


def name_judges(*deadlines):
    judges = [
        {"name": f"gpt{number}", "kind": "litellm", "model": "openai/x", "deadline_seconds": seconds}
        for number, seconds in enumerate(deadlines)
    ]
    return json.dumps([{"name": "lexical", "kind": "lexical"}, *judges])


@pytest.mark.parametrize("deadlines", [(), (569.9,), (120, 120, 120, 120), (300, 269)])
def test_deadlines_that_fit_into_one_delivery_are_accepted(deadlines):
    assert read_settings(environ={"RAGSONDE_JUDGES": name_judges(*deadlines)})


def test_deadlines_that_do_not_fit_into_one_delivery_together_are_refused_with_the_judges_and_the_way_out():
    with pytest.raises(ConfigError) as caught:
        read_settings(environ={"RAGSONDE_JUDGES": name_judges(300, 270)})

    (problem,) = caught.value.problems
    assert problem.startswith("RAGSONDE_JUDGES: found deadlines of 570 s together (gpt0 300 s, gpt1 270 s)")
    assert "expected less than 570 s" in problem
    assert "lower deadline_seconds" in problem


def test_a_single_deadline_has_the_same_bound():
    with pytest.raises(ConfigError, match="found the number 570, expected less than 570"):
        read_settings(environ={"RAGSONDE_JUDGES": name_judges(570)})


def test_the_deadline_of_a_judge_that_calls_nobody_does_not_count():
    judges = [{"name": f"l{number}", "kind": "lexical", "deadline_seconds": 500} for number in range(3)]
    assert len([JudgeOptions.model_validate(judge) for judge in judges]) == 3
    assert read_settings(environ={"RAGSONDE_JUDGES": json.dumps(judges)}).lease_seconds == 150
