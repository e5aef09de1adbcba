from __future__ import annotations

import pytest

from ragsonde.judging.llm_chain import LlmChain
from ragsonde.judging.options import JudgeKind, JudgeOptions
from ragsonde.judging.recorded import RecordedJudge
from ragsonde.judging.table import JUDGES, build_judge, build_judges
from ragsonde_schemas.errors import ConfigError, InputError

GPT = JudgeOptions(name="gpt", kind="litellm", model="openai/mock")


def test_every_kind_is_in_the_table():
    assert set(JUDGES) == set(JudgeKind)


def test_each_kind_builds_its_judge(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("")
    assert isinstance(build_judge(GPT), LlmChain)
    assert isinstance(build_judge(JudgeOptions(name="p", kind="recorded", path=path)), RecordedJudge)
    lexical = build_judge(JudgeOptions(name="words", kind="lexical"))
    assert (lexical.name, lexical.is_free) == ("words", True)


def test_judges_are_built_in_order_by_name():
    other = GPT.model_copy(update={"name": "another"})
    assert list(build_judges([GPT, other])) == ["gpt", "another"]


def test_two_judges_of_one_name_are_an_error_that_names_both():
    lexical = JudgeOptions(name="gpt", kind="lexical")
    with pytest.raises(ConfigError) as caught:
        build_judges([GPT, JudgeOptions(name="x", kind="lexical"), lexical])
    assert caught.value.problems == (
        "judges[0] (kind litellm) and judges[2] (kind lexical) are both named gpt: give each its own name",
    )


def test_a_recorded_judge_without_its_file_is_an_error_of_the_input(tmp_path):
    with pytest.raises(InputError):
        build_judge(JudgeOptions(name="p", kind="recorded", path=tmp_path / "none.jsonl"))


def test_the_fingerprint_of_an_llm_judge_is_that_of_its_model_not_its_name_or_address():
    renamed = GPT.model_copy(
        update={"name": "other", "api_base": "http://x", "sample": 0.1, "timeout_seconds": 1.0}
    )
    warmer = GPT.model_copy(update={"temperature": 0.7})
    bigger = GPT.model_copy(update={"model": "openai/mock-large"})
    first, same, *others = (build_judge(options).fingerprint for options in (GPT, renamed, warmer, bigger))
    assert first == same
    assert len({first, *others}) == 3
