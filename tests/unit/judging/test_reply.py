from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.judged_traces import make_trace
from ragsonde.judging.reply import (
    LONGEST_REPLY,
    LONGEST_WORDS,
    UnreadableReplyError,
    find_gaps,
    is_refusal,
    normalise_reply,
    parse_reply,
)
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.errors import Cause

GOOD = '{"c": [{"k": "1", "y": 1}], "rel": ["1.1"]}'
KEYS = ("r", "y", "s", "u", "t", "rel", "need", "ins", "miss", "st", "why")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["c", "k", "r", "y", "u", "rel", "need", "ins", "miss", "st", "x"]), inner
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  \n{GOOD}\n",
        f"\ufeff{GOOD}",
        f"```json\n{GOOD}\n```",
        f"Sure! Here it is: {GOOD} I hope that helps {{really}}.",
        f'<think>Or {{"c": []}}?</think>{GOOD}',
        f"{GOOD}\n{GOOD}",
        f'I looked at {{"k": "7", "y": 0}} first. {GOOD}',
    ],
)
def test_the_object_is_found_in_what_models_put_around_it(text):
    assert parse_reply(text) == {"c": [{"k": "1", "y": 1}], "rel": ["1.1"]}


DRAFT = '{"c": [], "rel": ["9.9"]}'


@pytest.mark.parametrize(
    "name", ["think", "thinking", "THOUGHT", "Reasoning", "reflection", 'think why="so"']
)
@pytest.mark.parametrize(
    "around", ["<{0}>{1}</{2}>{3}", "{1} hm, no </{2} >{3}", "<{0}>a <{0}>b</{2}> {1}</{2}>{3}"]
)
def test_a_draft_in_the_reasoning_is_no_answer(name, around):
    tag = name.partition(" ")[0]
    assert parse_reply(around.format(name, DRAFT, tag, GOOD)) == json.loads(GOOD)
    with pytest.raises(UnreadableReplyError):
        parse_reply(around.format(name, DRAFT, tag, ""))


@pytest.mark.parametrize("begin", ["<think>", "<THINK>", "< reasoning depth=3>", "<thought"])
def test_reasoning_that_does_not_end_holds_no_answer(begin):
    with pytest.raises(UnreadableReplyError):
        parse_reply(f"{begin} perhaps {DRAFT}")
    assert parse_reply(f"{GOOD} {begin} or {DRAFT}") == json.loads(GOOD)


def test_tags_that_hold_no_reasoning_are_text():
    for text in ("<think/>", "<thinker>", "a <b> c</b>"):
        assert parse_reply(text + GOOD) == json.loads(GOOD)
    quoting = {"rel": ["1.1"], "why": "it says </think> and <think>"}
    assert parse_reply(json.dumps(quoting)) == quoting


@pytest.mark.parametrize(
    "piece", ["<think>", "<think ", "</think ", "<", "< ", "</ ", "<think/", "</think>", "{<think"]
)
def test_reasoning_is_passed_over_in_linear_time(piece):
    text = (piece * LONGEST_REPLY)[:LONGEST_REPLY]
    begun = time.process_time()
    with pytest.raises(UnreadableReplyError):
        parse_reply(text)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("text", "cause", "said"),
    [
        ("", Cause.INVALID_REPLY, "not the JSON object"),
        ("no idea", Cause.INVALID_REPLY, "not the JSON object"),
        (GOOD[:-5], Cause.INVALID_REPLY, "not the JSON object"),
        ('{"c": [{"k": "1", "y": 1}, {"k": "2"', Cause.INVALID_REPLY, "not the JSON object"),
        ("[1, 0]", Cause.INVALID_REPLY, "a JSON list"),
        ('"yes"', Cause.INVALID_REPLY, "a JSON str"),
        ('{"rel": [NaN]}', Cause.INVALID_REPLY, "not the JSON object"),
        ('{"rel": [], "rel": ["1.1"]}', Cause.INVALID_REPLY, "key rel is given twice"),
        (GOOD + ' {"c": []}', Cause.INVALID_REPLY, "2 different JSON objects"),
        ("I'm sorry, but I can't help with that.", Cause.REFUSED, "refusal"),
        ("I\u2019m sorry, I cannot do this", Cause.REFUSED, "refusal"),
        ("{" * 5_000, Cause.INVALID_REPLY, "not the JSON object"),
        ('{"c":' * 5_000, Cause.INVALID_REPLY, "not the JSON object"),
        ("[" * 100_000, Cause.INVALID_REPLY, "not the JSON object"),
        (f'{{"rel": [{"9" * 5_000}]}}', Cause.INVALID_REPLY, "not the JSON object"),
        ("x" * (LONGEST_REPLY + 1), Cause.INVALID_REPLY, "longer than"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_anything_else_is_refused_with_what_is_wrong(text, cause, said):
    with pytest.raises(UnreadableReplyError) as caught:
        parse_reply(text)
    assert caught.value.cause is cause
    assert said in str(caught.value)


def test_identical_repeats_of_a_key_are_one():
    assert parse_reply('{"rel": ["1.1"], "rel": ["1.1"]}') == {"rel": ["1.1"]}


def test_a_verdict_about_sorrow_is_no_refusal():
    assert not is_refusal('{"why": "I am sorry"}')
    assert is_refusal("Sorry, no.")


def test_a_reply_becomes_a_recorded_assessment():
    found = parse_reply(
        '{"c": [{"k": 1, "r": 3, "y": 1, "s": 0, "u": "1", "t": "says it"},'
        '{"k": " 2 ", "r": "0", "y": false}],'
        '"rel": ["1.1", 2], "need": ["1.10", 1.10], "ins": 0, "miss": ["a"], "why": "so",'
        '"st": [{"k": 2, "x": "fire is hot", "y": 1}]}'
    )
    assert normalise_reply(found, keys=KEYS) == {
        "contexts": [
            {
                "number": "1",
                "level": "high",
                "relevant": True,
                "supports": False,
                "used": True,
                "reason": "says it",
            },
            {"number": "2", "level": "none", "relevant": False},
        ],
        "relevant_sentences": ["1.1", "2"],
        "essential": ["1.10", "1.10"],
        "insufficient": False,
        "missing": ["a"],
        "why": "so",
        "statements": [{"context": "2", "text": "fire is hot", "relevant": True}],
    }


def test_what_was_not_asked_for_is_dropped():
    found = json.loads(
        '{"c": [{"k": "1", "y": 1, "s": 1, "t": "x"}], "miss": ["lies"], "admin": true, "why": "x"}'
    )
    assert normalise_reply(found, keys=("y",)) == {"contexts": [{"number": "1", "relevant": True}]}


def test_words_that_mean_nothing_are_passed_on_for_the_reader_to_refuse():
    found = {"c": [{"k": "1", "r": 9, "y": "perhaps"}], "ins": "maybe", "rel": "all"}
    assert normalise_reply(found, keys=KEYS) == {
        "contexts": [{"number": "1", "level": 9, "relevant": "perhaps"}],
        "insufficient": "maybe",
        "relevant_sentences": "all",
    }


def test_texts_of_the_models_own_are_few_short_and_storable():
    found = {"miss": ["a" * 5_000, *"bcdefgh"], "why": "nul \x00 and \ud800"}
    raw = normalise_reply(found, keys=KEYS)
    assert [len(item) for item in raw["missing"]] == [LONGEST_WORDS, 1, 1, 1, 1]
    assert raw["why"] == "nul \ufffd and \ufffd"


@pytest.mark.parametrize(
    ("found", "gaps"),
    [
        ({"c": [{"k": "1", "y": 1, "u": 1}], "need": [], "ins": True}, {}),
        ({"c": [{"k": "1", "y": 1}], "need": [], "ins": True}, {Aspect.USED: "key u is missing or null"}),
        ({"c": [{"k": "1", "y": 1, "u": 1}], "need": []}, {Aspect.ESSENTIAL: "key ins is missing or null"}),
        (
            {"c": [{"k": "1", "y": None, "u": 1}], "need": None, "ins": False},
            {Aspect.RELEVANT: "key y is missing or null", Aspect.ESSENTIAL: "key need is missing or null"},
        ),
        (
            {"c": "all"},
            {
                Aspect.RELEVANT: "key y is missing or null",
                Aspect.USED: "key u is missing or null",
                Aspect.ESSENTIAL: "key need and ins is missing or null",
            },
        ),
    ],
)
def test_an_aspect_that_is_left_out_is_a_fault_of_that_aspect(found, gaps):
    aspects = frozenset({Aspect.RELEVANT, Aspect.USED, Aspect.ESSENTIAL})
    assert {key: gap.message for key, gap in find_gaps(found, aspects=aspects).items()} == gaps


@given(st.text(max_size=200) | JSON.map(json.dumps))
def test_any_text_is_an_object_or_a_named_fault(text):
    try:
        found = parse_reply(text)
    except UnreadableReplyError:
        return
    assert isinstance(found, dict)


@given(st.dictionaries(st.sampled_from(["c", "rel", "need", "ins", "miss", "st", "why"]), JSON))
def test_any_object_is_read_without_an_exception_and_names_only_numbers_of_the_trace(found):
    trace = make_trace()
    assessment = read_assessment(normalise_reply(found, keys=KEYS), trace, aspects=frozenset(Aspect))
    numbers = {sentence.number for sentence in trace.sentences}
    assert set(assessment.essential or ()) <= numbers
    assert set(assessment.relevant_sentences or ()) <= numbers
    assert set(assessment.contexts or ()) <= {"1", "2", "3"}
