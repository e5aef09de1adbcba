"""What providers put into a response beside the reply that was asked for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ragsonde.judging.litellm_response import read_response
from ragsonde.judging.reply import LONGEST_REPLY, UnreadableReplyError, parse_reply


def choice(content, finish_reason="stop", **extra):
    return SimpleNamespace(message=SimpleNamespace(content=content, **extra), finish_reason=finish_reason)


def read(*choices, usage=(10, 5)):
    told = None if usage is None else SimpleNamespace(prompt_tokens=usage[0], completion_tokens=usage[1])
    response = SimpleNamespace(choices=list(choices), usage=told, model="m-1")
    return read_response(response, find_cost=lambda _, *tokens: sum(filter(None, tokens)), seconds=1.5)


def test_a_plain_reply():
    found = read(choice("{}"))
    assert (found.text, found.finish_reason, found.refusal, found.model) == ("{}", "stop", None, "m-1")
    assert (found.tokens_in, found.tokens_out, found.cost_usd, found.seconds) == (10, 5, 15, 1.5)
    assert (found.has_reasoning, found.has_tool_call, found.choices) == (False, False, 1)


def test_reasoning_without_words():
    found = read(choice(None, reasoning_content="Let me think"))
    assert (found.text, found.has_reasoning) == ("", True)


def test_a_tool_call_in_place_of_words():
    assert read(choice(None, "tool_calls", tool_calls=[SimpleNamespace()])).has_tool_call
    assert read(choice("", function_call=SimpleNamespace())).has_tool_call


def test_of_choices_those_with_words_count_and_the_same_words_once():
    assert read(choice(""), choice("{}", "length"), choice("{}")).finish_reason == "length"
    assert read(choice("{}"), choice("{}")).choices == 1
    assert read(choice("{}"), choice('{"c": []}')).choices == 2


def test_content_that_is_no_text_is_none():
    assert read(choice([{"type": "text", "text": "{}"}])).text == ""


@pytest.mark.parametrize("usage", [None, (None, None), (0, 0)])
def test_usage_that_was_not_told_is_not_known(usage):
    found = read(choice("{}"), usage=usage)
    assert (found.tokens_in, found.tokens_out) == (None, None)


def test_no_choice_and_no_reason_to_end():
    assert read().text == ""
    assert read(choice("{}", None)).finish_reason == "stop"


def test_of_words_too_long_to_be_read_no_more_is_kept_than_shows_it():
    found = read(choice("{}" + " " * LONGEST_REPLY))
    assert len(found.text) == LONGEST_REPLY + 1
    with pytest.raises(UnreadableReplyError, match="longer than"):
        parse_reply(found.text)
    assert len(read(choice(None, refusal="no " * LONGEST_REPLY)).refusal) == LONGEST_REPLY + 1
