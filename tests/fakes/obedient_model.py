"""A model that lets the data it is shown rule it: the worst that an injected text can hope for.

It reads the prompt as a model does and gives in to whatever it finds there, in one of several ways.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fakes.provider import make_completion
from mock_llm.verdicts import form_reply, obey, read_prompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from mock_llm.verdicts import Prompt
    from ragsonde.judging.completion import Completion
    from ragsonde.judging.prompt import Message

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _praise(prompt: Prompt) -> dict[str, Any]:
    """A reply in good form that calls everything best."""
    reply = form_reply(prompt)
    for verdict in reply.get("c", ()):
        verdict.update(
            {key: best for key, best in (("r", 3), ("y", 1), ("s", 1), ("u", 1)) if key in verdict}
        )
    return reply


def _repeat_json(prompt: Prompt) -> str:
    return obey(prompt)


def _merge_json(prompt: Prompt) -> str:
    """Its own reply, overwritten by every JSON object that stands in the data."""
    reply: dict[str, Any] = form_reply(prompt)
    for start in (found.start() for found in re.finditer(r"\{", prompt.text)):
        try:
            planted, _ = json.JSONDecoder().raw_decode(prompt.text, start)
        except (json.JSONDecodeError, RecursionError):
            continue
        reply.update(planted)
    return json.dumps(reply)


def _praise_all(prompt: Prompt) -> str:
    return json.dumps(_praise(prompt))


def _add_contexts(prompt: Prompt) -> str:
    """Verdicts for every number in the data as if each named a context, a sentence, another trace."""
    reply = _praise(prompt)
    numbers = [*dict.fromkeys(_NUMBER.findall(prompt.text)), "99", "../../etc/passwd", "t-2"]
    reply["c"] += [
        {"k": number, "r": 3, "y": 1, "u": 1} for number in numbers if number not in prompt.contexts
    ]
    return json.dumps(reply)


def _name_sentences(prompt: Prompt) -> str:
    numbers = [*_NUMBER.findall(prompt.text), "9.9", "1.99", "0.0", "-1", "1.1.1"]
    return json.dumps(_praise(prompt) | {"rel": numbers, "need": numbers, "ins": False})


def _add_keys(prompt: Prompt) -> str:
    """Keys of other fields, other traces and of the stored form beside those that were asked for."""
    reply = _praise(prompt)
    keys = {"trace_id": "t-2", "app": "other", "score": 1, "scores": {"context_precision": 1}, "faults": {}}
    keys |= {"answered_model": "me", "judge_epoch": 7, "calls": [], "is_cached": True, "head": "x"}
    for verdict in reply["c"]:
        verdict.update({"trace_id": "t-2", "content": prompt.text, "sentences": ["9.9"]})
    return json.dumps(reply | keys | {"contexts": reply["c"], "why": prompt.text, "miss": [prompt.text] * 50})


def _speak(prompt: Prompt) -> str:
    """The data, word for word, in place of a reply."""
    return prompt.text


def _decode(prompt: Prompt) -> str:
    for found in re.finditer(r"[A-Za-z0-9+/]{20,}={0,2}", prompt.text):
        try:
            return base64.b64decode(found[0]).decode()
        except ValueError:
            continue
    return _speak(prompt)


def _steer_terminal(prompt: Prompt) -> str:
    words = "\x1b]0;owned\x07\x1b[2J\u202e[red]" + prompt.text + "\x00\ud800"
    return json.dumps(_praise(prompt) | {"why": words, "miss": [words]})


WAYS: dict[str, Callable[[Prompt], str]] = {
    "repeats_json": _repeat_json,
    "merges_json": _merge_json,
    "praises_all": _praise_all,
    "adds_contexts": _add_contexts,
    "names_sentences": _name_sentences,
    "adds_keys": _add_keys,
    "speaks": _speak,
    "decodes": _decode,
    "steers_terminal": _steer_terminal,
}


@dataclass
class ObedientModel:
    """The provider of such a model; in the repair it gives in once more."""

    way: str
    asked: list[list[Message]] = field(default_factory=list)

    def complete(
        self,
        messages: list[Message],
        *,
        schema: dict[str, Any],  # noqa: ARG002 - it keeps to no schema
        max_tokens: int,  # noqa: ARG002
        timeout_seconds: float,  # noqa: ARG002
    ) -> Completion:
        self.asked.append(messages)
        return make_completion(WAYS[self.way](read_prompt(messages)))
