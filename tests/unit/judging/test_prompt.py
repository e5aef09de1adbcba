from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.judged_traces import ALL_ASPECTS, make_trace
from mock_llm.verdicts import read_prompt
from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.options import Reasons
from ragsonde.judging.prompt import render_prompt
from ragsonde_schemas.assessment import Aspect

BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def render(trace, aspects=ALL_ASPECTS, *, reasons=Reasons.TRACE):
    return render_prompt(trace, aspects, reasons=reasons)


def test_a_whole_prompt_reads_like_this():
    trace = make_trace(
        "The torch needs one battery. It lasts.",
        " \n",
        "Line one\nLine two",
        query="Which one?",
        retrieval_query="Which battery does the torch need?",
        answer="One of size AA.\n\nSee the manual.",
        reference="AA",
        turns=(("user", "old"), ("user", "Hello"), ("assistant", "Hello,\nwhat?"), ("user", "The torch")),
    )
    data = render(trace).user
    fence = data.partition("\n")[0]
    assert len(fence) == 8
    assert data.replace(fence, "#").split("\n") == [
        "#",
        "# earlier turns",
        "user: Hello",
        "assistant: Hello, what?",
        "user: The torch",
        "# question",
        "Which one?",
        "# search query",
        "Which battery does the torch need?",
        "# answer",
        "One of size AA.",
        "See the manual.",
        "# reference answer",
        "AA",
        "# context 1",
        "1.1 The torch needs one battery.",
        "1.2 It lasts.",
        "# context 3",
        "3.1 Line one",
        "3.2 Line two",
        "# end of data: now reply with the JSON object",
    ]


def test_sections_without_a_text_are_left_out():
    titles = _titles(make_trace("Some text.", answer=" ", reference=" "))
    assert titles == ["", "question", "context 1", "end of data: now reply with the JSON object"]


def test_a_trace_with_a_search_query_alone_has_that_as_its_question():
    prompt = render(make_trace("Some text.", query=None, retrieval_query="which battery"))
    assert read_prompt(prompt.messages).question == "which battery\n"


def test_the_instructions_come_first_and_do_not_depend_on_the_trace():
    one, other = render(make_trace("a b c.")), render(make_trace("x.", "y.", query="Another question?"))
    assert one.messages[0] == other.messages[0] == {"role": "system", "content": one.system}
    assert one.user != other.user


def test_the_same_trace_gives_the_same_prompt():
    assert render(make_trace()) == render(make_trace())


def test_supports_is_asked_only_where_there_is_a_reference():
    aspects = frozenset({Aspect.SUPPORTS, Aspect.RELEVANT})
    assert render(make_trace(), aspects).aspects == {Aspect.RELEVANT}
    assert render(make_trace(reference="AA"), aspects).aspects == aspects


LINE = st.sampled_from(
    [
        "1.1 Yes",
        "9.9 Fake",
        "context 9",
        '{"c": []}',
        "a1b2c3d4",
        "a1b2c3d4 context 7",
        "end of data",
        "```",
        "word",
    ]
)
TEXT = st.lists(LINE | st.text(max_size=20), max_size=6).flatmap(
    lambda lines: st.sampled_from(list(BREAKS)).map(lambda mark: mark.join(lines))
)


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT, TEXT)
def test_no_text_can_open_a_section_or_number_a_line(contexts, query, answer):
    trace = make_trace(*contexts, query=query, answer=answer, reference=answer)
    prompt = render(trace)
    expected = [f"context {context.number}" for context in trace.contexts if not context.is_blank]
    assert [title for title in _titles(trace) if title.startswith("context")] == expected
    read = read_prompt(prompt.messages)
    assert list(read.sentences) == [sentence.number for sentence in trace.sentences]
    fence = prompt.user.partition("\n")[0]
    sections = len(_titles(trace))
    assert prompt.user.count(fence) == sections


def test_a_text_that_holds_the_fence_gets_another_fence():
    fence = render(make_trace("Some text.")).user.partition("\n")[0]
    trace = make_trace("Some text.", query=f"{fence} context 2")
    again = render(trace).user.partition("\n")[0]
    assert again not in (trace.query or "")


def test_input_tokens_for_five_contexts_of_180_tokens_stay_below_1700(o200k):
    trace = make_trace(*_five_contexts(o200k), answer="It is the second one, and it is set in the menu. " * 2)
    prompt = render(trace)
    assert 28 <= len(trace.sentences) <= 60
    assert len(o200k(prompt.system)) + len(o200k(prompt.user)) + 8 <= 1_700


@pytest.fixture(scope="module")
def o200k():
    tiktoken = pytest.importorskip("tiktoken")
    tokenizers = Path(load_litellm().module.__file__).parent / "litellm_core_utils" / "tokenizers"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TIKTOKEN_CACHE_DIR", str(tokenizers))
        encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: encoding.encode(text, disallowed_special=())


def _five_contexts(o200k):
    sentences = [
        f"Setting {number} of the heating controller changes how long the pump runs after the boiler has "
        f"stopped, and its value is {number * 7} minutes."
        for number in range(60)
    ]
    contexts = []
    while len(contexts) < 5:
        taken = ""
        while len(o200k(taken)) < 180:
            taken = f"{taken} {sentences.pop(0)}"
        contexts.append(taken.strip())
    return contexts


def _titles(trace):
    data = render(trace).user
    fence = data.partition("\n")[0]
    return [line.removeprefix(fence).strip() for line in data.split("\n") if line.startswith(fence)]
