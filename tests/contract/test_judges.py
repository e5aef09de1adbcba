"""What every judge promises, whoever it is."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from fakes.judge import FakeJudge
from fakes.judged_traces import ALL_ASPECTS, WIDER_ASPECTS, make_trace
from mock_llm.server import MockLlm
from ragsonde.judging.options import JudgeOptions
from ragsonde.judging.table import build_judge
from ragsonde.scoring.rubric import list_rubrics
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect

TRACES = {
    "plain": make_trace(trace_id="plain"),
    "blank": make_trace("A torch needs a battery.", " \n ", "Shops open at nine.", trace_id="blank"),
    "reference": make_trace(reference="An alkaline battery.", trace_id="reference"),
    "no_answer": make_trace(answer=None, trace_id="no_answer"),
    "one": make_trace("Only one. It has two sentences.", trace_id="one"),
    "chat": make_trace(query="And that one?", retrieval_query="Which battery does it need?", trace_id="chat"),
    "chinese": make_trace(
        "\u7535\u6c60\u5f88\u5927\u3002\u706f\u5f88\u5c0f\u3002",
        query="\u54ea\u79cd\u7535\u6c60\uff1f",
        trace_id="chinese",
    ),
}
ASKED = ALL_ASPECTS - {Aspect.SUPPORTS}
NEVER_ASSESSED = {"lexical": WIDER_ASPECTS | {Aspect.MISSING}}
SCORERS = build_scorers({"rubric:tone": {"question": "Is the answer polite?", "points": 5}})


@pytest.fixture(scope="module")
def llm():
    with MockLlm() as served:
        yield served


@pytest.fixture(params=["fake", "recorded", "lexical", "litellm"])
def build(request, llm, tmp_path):
    """Makes the same judge again and again."""
    if request.param == "fake":
        return lambda: FakeJudge("fake", rubrics=list_rubrics(SCORERS))
    options = {"name": request.param, "kind": request.param}
    if request.param == "recorded":
        options["path"] = tmp_path / "verdicts.jsonl"
        options["path"].write_text("".join(json.dumps(_annotate(trace)) + "\n" for trace in TRACES.values()))
    if request.param == "litellm":
        options |= {"model": "openai/mock", "api_base": llm.url, "api_key": "k"}
    return lambda: build_judge(JudgeOptions.model_validate(options), scorers=SCORERS)


def test_it_says_who_it_is_before_any_call(build):
    judge = build()
    assert judge.name
    assert re.fullmatch("[0-9a-f]{16}", judge.fingerprint)
    assert isinstance(judge.is_free, bool)
    assert build().fingerprint == judge.fingerprint


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)
def test_every_aspect_is_answered_for_every_context_and_only_with_numbers_of_the_trace(build, trace):
    judge = build()
    assessment = judge.assess(trace, ASKED, deadline=None)
    assert assessment.faults == {}
    assert list(assessment.contexts) == [context.number for context in trace.contexts]
    for verdict in assessment.contexts.values():
        assert None not in (verdict.relevant, verdict.level, verdict.used)
    numbers = [sentence.number for sentence in trace.sentences]
    for chosen in (assessment.essential, assessment.relevant_sentences):
        assert list(chosen) == [number for number in numbers if number in chosen]
    assert isinstance(assessment.insufficient, bool)
    if Aspect.MISSING not in NEVER_ASSESSED.get(judge.name, ()):
        assert assessment.missing is not None


def test_blank_contexts_are_never_relevant(build):
    blank = build().assess(TRACES["blank"], ASKED).contexts["2"]
    assert (blank.relevant, blank.level, blank.used) == (False, "none", False)


def test_supports_is_answered_where_there_is_a_reference(build):
    assessment = build().assess(TRACES["reference"], frozenset({Aspect.SUPPORTS}))
    assert assessment.faults == {}
    assert all(verdict.supports is not None for verdict in assessment.contexts.values())


@pytest.mark.parametrize("aspect", sorted(WIDER_ASPECTS))
def test_an_aspect_of_the_wider_set_is_answered_or_absent_and_never_half(build, aspect):
    judge = build()
    assessment = judge.assess(TRACES["reference"], frozenset({aspect}))
    assert assessment.faults == {}
    is_assessed = aspect not in NEVER_ASSESSED.get(judge.name, ())
    assert bool(getattr(assessment, aspect)) == is_assessed
    absent = WIDER_ASPECTS - {aspect} if is_assessed else WIDER_ASPECTS
    assert {other for other in WIDER_ASPECTS if getattr(assessment, other) is None} == absent
    assert assessment.contexts is None


@pytest.mark.parametrize("aspect", sorted(ASKED))
def test_what_was_not_asked_is_not_answered(build, aspect):
    assessment = build().assess(TRACES["plain"], frozenset({aspect}))
    given = {
        Aspect.MISSING: assessment.missing,
        Aspect.ESSENTIAL: assessment.essential,
        Aspect.RELEVANT_SENTENCES: assessment.relevant_sentences,
        Aspect.STATEMENTS: assessment.statements,
    }
    assert {key for key, value in given.items() if value is not None} <= {aspect}
    for verdict in (assessment.contexts or {}).values():
        assert {key for key in PER_CONTEXT if getattr(verdict, key) is not None} <= {aspect}


def test_the_same_question_has_the_same_answer_from_any_thread(build):
    judge = build()
    expected = [_strip(judge.assess(trace, ASKED)) for trace in TRACES.values()]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda trace: _strip(judge.assess(trace, ASKED)), list(TRACES.values()) * 4))
    assert found == expected * 4


def test_a_free_judge_calls_nobody(build, llm):
    judge = build()
    before = llm.total
    assessment = judge.assess(TRACES["plain"], ASKED)
    assert (llm.total == before) == judge.is_free
    assert (assessment.calls == ()) == judge.is_free


def _annotate(trace):
    number = trace.sentences[0].number
    return {
        "trace_id": trace.trace_id,
        "contexts": {
            context.number: {"relevant": True, "supports": False, "level": "low", "used": False}
            for context in trace.contexts
        },
        "missing": [],
        "essential": [number],
        "insufficient": False,
        "relevant_sentences": [number],
        "claims": [{"text": "A claim.", "supported": "yes"}],
        "answer_statements": [{"text": "A statement.", "relevant": "unsure"}],
        "reference_statements": [{"text": "A statement.", "attributed": False}],
        "rubrics": {"tone": 4},
    }


def _strip(assessment):
    return assessment.model_copy(update={"calls": ()})
