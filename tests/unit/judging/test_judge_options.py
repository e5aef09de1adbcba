from __future__ import annotations

import pytest
from pydantic import ValidationError

from ragsonde.judging.options import JudgeOptions, Reasons


def test_defaults_are_those_of_the_documentation():
    options = JudgeOptions.model_validate({"name": "gpt", "kind": "litellm", "model": "openai/gpt-5-mini"})
    assert (options.sample, options.temperature) == (1.0, 0.0)
    assert (options.timeout_seconds, options.deadline_seconds) == (60.0, 120.0)
    assert options.reasons is Reasons.TRACE


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "litellm"}, "judge gpt: kind litellm needs `model`"),
        ({"kind": "recorded"}, "judge gpt: kind recorded needs `path`"),
        ({"kind": "lexical", "model": "m"}, "`model` is for kind litellm, not lexical: remove it"),
        ({"kind": "recorded", "path": "p", "api_base": "u"}, "`api_base` is for kind litellm"),
        ({"kind": "litellm", "model": "m", "path": "p"}, "`path` is for kind recorded, not litellm"),
        (
            {"kind": "litellm", "model": "m", "api_key": "k", "api_key_env": "E"},
            "api_key and api_key_env are both given: keep one",
        ),
        (
            {"kind": "lexical", "options": {"a": 1}},
            "`options` is for kinds of installed packages, not lexical",
        ),
        ({"kind": "oracle", "model": "m"}, "`model` is for kind litellm, not oracle: put it under `options`"),
        (
            {"kind": "litellm", "model": "m", "timeout_seconds": 90, "deadline_seconds": 60},
            "`timeout_seconds` of one call, 90, is longer than `deadline_seconds`",
        ),
        ({"kind": "litellm", "model": "m", "timeout_seconds": 121}, "all calls about a trace, 120"),
        ({"kind": 5}, "valid string"),
        ({"kind": "lexical", "sample": 1.5}, "less than or equal to 1"),
        ({"kind": "lexical", "colour": "red"}, "colour"),
        ({"kind": "litellm", "model": "m", "temperature": 3}, "less than or equal to 2"),
        ({"kind": "litellm", "model": "m", "timeout_seconds": 0}, "greater than 0"),
    ],
)
def test_wrong_options_are_refused_with_words_that_say_what_to_do(given, said):
    with pytest.raises(ValidationError) as caught:
        JudgeOptions.model_validate({"name": "gpt", **given})
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "1gpt", "x" * 65, 'a"b'])
def test_a_name_that_cannot_be_a_label_is_refused(name):
    with pytest.raises(ValidationError):
        JudgeOptions(name=name, kind="lexical")


def test_the_key_is_in_no_repr_and_no_error():
    options = JudgeOptions(name="gpt", kind="litellm", model="m", api_key="sk-very-secret")
    assert "very-secret" not in repr(options) + str(options) + options.model_dump_json()
    with pytest.raises(ValidationError) as caught:
        JudgeOptions(name="gpt", kind="litellm", api_key="sk-very-secret")
    assert "very-secret" not in str(caught.value)
