"""What the mock provider can answer: one function an outcome, by name."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mock_llm.verdicts import Prompt, form_reply, obey, read_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Outcome:
    """One answer of the provider: a name of `OUTCOMES`, and what differs from its default.

    Attributes:
        text: for `text`: the model's words as they are.
        retry_after: the Retry-After header of an HTTP error.
        seconds: waits so long before answering.
        tokens_in, tokens_out: the usage told; None counts four characters a token.
        model: the model told in the answer; None repeats the request's.
    """

    name: str = "ok"
    text: str = ""
    retry_after: str | None = None
    seconds: float = 0.0
    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str | None = None


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; `hangs` answers never, `breaks` closes the connection without one.

    `trickles` sends the headers, and then a blank now and then for as long as anybody listens.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    breaks: bool = False
    trickles: bool = False


def answer(outcome: Outcome, request: Mapping[str, Any]) -> Answer:
    """The HTTP answer to a chat completion request."""
    if outcome.name in ODDITIES:
        return ODDITIES[outcome.name]
    if outcome.name in ERRORS:
        return _fail(outcome)
    messages = list(request["messages"])
    content, finish_reason, extra = TEXTS[outcome.name](read_prompt(messages), outcome)
    return Answer(body=_complete(request, outcome, content, finish_reason, extra))


def _fail(outcome: Outcome) -> Answer:
    status, kind, code, message = ERRORS[outcome.name]
    headers = {} if outcome.retry_after is None else {"Retry-After": outcome.retry_after}
    error = {"error": {"message": message, "type": kind, "code": code, "param": None}}
    return Answer(status=status, body=json.dumps(error).encode(), headers=headers)


def _complete(
    request: Mapping[str, Any],
    outcome: Outcome,
    content: str | None,
    finish_reason: str,
    extra: dict[str, Any],
) -> bytes:
    sent = sum(len(message.get("content") or "") for message in request["messages"])
    tokens_in = sent // 4 if outcome.tokens_in is None else outcome.tokens_in
    tokens_out = len(content or "") // 4 if outcome.tokens_out is None else outcome.tokens_out
    return json.dumps(
        {
            "id": "chatcmpl-mock",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": outcome.model or request.get("model", "mock"),
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, **extra},
                    "finish_reason": finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": tokens_in,
                "completion_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
            },
        }
    ).encode()


_Text = tuple[str | None, str, dict[str, Any]]


def _stop(text: str | None, **extra: Any) -> _Text:  # noqa: ANN401 - JSON values of a provider's message
    return text, "stop", extra


def _changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[Prompt, Outcome], _Text]:
    """A good reply with one thing made wrong."""

    def reply(prompt: Prompt, _outcome: Outcome) -> _Text:
        good = form_reply(prompt)
        change(good)
        return _stop(json.dumps(good))

    return reply


def _set_all(key: str, value: Any) -> Callable[[dict[str, Any]], None]:  # noqa: ANN401 - any JSON value
    def change(good: dict[str, Any]) -> None:
        for verdict in good["c"]:
            verdict[key] = value

    return change


def _set_known(good: dict[str, Any], best: int) -> None:
    for verdict in good["c"]:
        verdict.update(
            {key: v for key, v in (("r", 3 * best), ("y", best), ("s", best), ("u", best)) if key in verdict}
        )


def _contradict(good: dict[str, Any]) -> None:
    first = good["c"][0]
    good["c"].append({key: 1 - value if key == "y" else value for key, value in first.items()})


def _good(prompt: Prompt) -> str:
    return json.dumps(form_reply(prompt))


TEXTS: dict[str, Callable[[Prompt, Outcome], _Text]] = {
    "ok": lambda prompt, _: _stop(_good(prompt)),
    "all_relevant": _changed(lambda good: _set_known(good, 1)),
    "none_relevant": _changed(lambda good: _set_known(good, 0)),
    "text": lambda _, outcome: _stop(outcome.text),
    "prose": lambda prompt, _: _stop(f"Sure! Here it is:\n```json\n{_good(prompt)}\n```\nAnything else?"),
    "thinking": lambda prompt, _: _stop(f'<think>Perhaps {{"c": []}}?</think>\n{_good(prompt)}'),
    "repeat": _changed(lambda good: good["c"].append(dict(good["c"][0]))),
    "truncate": lambda prompt, _: _stop(_good(prompt)[: len(_good(prompt)) // 2]),
    "length": lambda prompt, _: (_good(prompt)[:20], "length", {}),
    "refusal": lambda *_: _stop(None, refusal="I cannot help with that."),
    "refusal_text": lambda *_: _stop("I'm sorry, but I can't assist with that request."),
    "content_filter": lambda *_: ("", "content_filter", {}),
    "garbage": lambda *_: _stop("Lorem ipsum [1, 2} dolor \\u00zz"),
    "empty": lambda *_: _stop(""),
    "reasoning_only": lambda *_: _stop("", reasoning_content="Let me think about context 1 ..."),
    "wrong_number": _changed(lambda good: good["c"][0].update(k="99")),
    "wrong_sentence": _changed(lambda good: good["need"].append("1.99")),
    "missing_context": _changed(lambda good: good["c"].pop()),
    "missing_key": _changed(lambda good: good.pop("need")),
    "contradiction": _changed(_contradict),
    "bad_word": _changed(_set_all("y", "perhaps")),
    "bad_level": _changed(_set_all("r", 9)),
    "two_objects": lambda prompt, _: _stop(
        f'{_good(prompt)}\n{{"c": [], "rel": [], "need": [], "ins": true}}'
    ),
    "array": lambda *_: _stop("[1, 0, 1]"),
    "obey": lambda prompt, _: _stop(obey(prompt)),
}

ERRORS: dict[str, tuple[int, str, str | None, str]] = {
    "429": (429, "requests", "rate_limit_exceeded", "Rate limit reached for mock"),
    "quota": (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota"),
    "402": (402, "billing", "insufficient_credits", "Insufficient credits"),
    "500": (500, "server_error", None, "The server had an error"),
    "502": (502, "server_error", None, "Bad gateway"),
    "503": (503, "server_error", None, "Overloaded"),
    "529": (529, "overloaded_error", None, "Overloaded"),
    "401": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: {key}"),
    "403": (403, "invalid_request_error", "forbidden", "Project has no access"),
    "404": (404, "invalid_request_error", "model_not_found", "The model `mock` does not exist"),
    "400": (400, "invalid_request_error", "unsupported_value", "Unsupported value: 'verbosity'"),
    "echo": (400, "invalid_request_error", None, "Malformed request: Authorization: Bearer {key}"),
    "413": (413, "invalid_request_error", "too_large", "Payload too large"),
    "content_policy": (
        400,
        "invalid_request_error",
        "content_policy_violation",
        "Your request was rejected: content_policy_violation",
    ),
    "context_window": (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 8192 tokens.",
    ),
}

ODDITIES = {
    "hang": Answer(hangs=True),
    "trickle": Answer(trickles=True),
    "disconnect": Answer(breaks=True),
    "not_http_json": Answer(body=b"<html>gateway</html>", headers={"Content-Type": "text/html"}),
    "no_choices": Answer(body=b'{"id": "x", "object": "chat.completion", "model": "mock", "choices": []}'),
}

NAMES = frozenset(TEXTS) | frozenset(ERRORS) | frozenset(ODDITIES)
