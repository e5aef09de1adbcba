"""Asks the application under test: a function, or an HTTP address."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ragsonde.api.traces import encode_mapping, read_traces
from ragsonde.resolving.loading import LoadingError, import_named
from ragsonde_schemas.errors import DecodeError, InputError
from ragsonde_schemas.message import CONTENT_TYPE

if TYPE_CHECKING:
    from ragsonde_schemas.trace import Trace

Target = Callable[[dict[str, Any]], Any]
"""Called with the question `{trace_id, query, messages?, ...}`; gives the answer as a text, or a mapping with
`ANSWER_KEYS` as in the native message. May be async."""

ANSWER_KEYS = ("answer", "contexts", "retrieval_query", "model", "usage", "latency_ms", "cost_usd")
LARGEST_REPLY_BYTES = 16 * 1024 * 1024


def answer_anew(trace: Trace, *, target: Target) -> Trace:
    """The trace with what the target answers now, in place of its recorded answer and contexts.

    Raises:
        InputError: the target answered something that is neither a text nor such a mapping.
        Exception: whatever the target raises.
    """
    begun = time.monotonic()
    answered = target(describe_question(trace))
    if inspect.isawaitable(answered):
        answered = asyncio.run(_wait_for(answered))
    seconds = time.monotonic() - begun
    if isinstance(answered, str):
        answered = {"answer": answered}
    if not isinstance(answered, Mapping):
        raise InputError(f"the target gave a {type(answered).__name__}, expected a text or a mapping")
    unknown = [str(key) for key in answered if key not in ANSWER_KEYS]
    if unknown:
        raise InputError(f"the target gave the key {unknown[0]}, expected only {', '.join(ANSWER_KEYS)}")
    message = {**_restate(trace), "latency_ms": round(seconds * 1000, 3), **answered}
    try:
        (renewed,) = read_traces(
            encode_mapping(message, place="the target's answer"), content_type=CONTENT_TYPE
        )
    except DecodeError as error:
        raise InputError(f"the target's answer is not valid: {error}") from error
    return renewed


def describe_question(trace: Trace) -> dict[str, Any]:
    """What the target is asked: the question and what surrounds it, neither reference nor recorded answer."""
    question = {
        "trace_id": trace.trace_id,
        "query": trace.query or trace.retrieval_query,
        "messages": _list_messages(trace),
        "session_id": trace.session_id,
        "user_id": trace.user_id,
        "metadata": dict(trace.metadata),
    }
    return {key: value for key, value in question.items() if value}


def load_target(name: str, *, timeout_seconds: float) -> Target:
    """The target that a person names: `module:function`, or an http(s) address.

    Raises:
        InputError: there is no such function, its module cannot be imported, or the address is none.
    """
    if name.startswith(("http://", "https://")):
        if not urlsplit(name).hostname:
            raise InputError(
                f"--target {name}: no host in it; expected for example http://127.0.0.1:8000/ask"
            )
        return lambda question: _post(name, question=question, timeout_seconds=timeout_seconds)
    module_name, separator, function_name = name.partition(":")
    if not separator or not module_name or not function_name or function_name.startswith("//"):
        raise InputError(
            f"--target {name}: expected module:function, for example my_app.rag:answer, or an http(s) URL"
        )
    try:
        found: Any = import_named(name)
    except LoadingError as error:
        raise InputError(f"--target {name}: {error}") from error
    if not callable(found):
        raise InputError(f"--target {name}: is a {type(found).__name__}, expected a function")
    target: Target = found
    return target


def _restate(trace: Trace) -> dict[str, Any]:
    """The trace as a native message without what the application answered."""
    reference = trace.reference.model_dump(mode="json") if trace.reference else None
    message = {
        "trace_id": trace.trace_id,
        "event_id": trace.event_id,
        "app": trace.app,
        "environment": trace.environment,
        "release": trace.release,
        "variant": trace.variant,
        "session_id": trace.session_id,
        "user_id": trace.user_id,
        "occurred_at": trace.occurred_at.isoformat(),
        "query": trace.query,
        "messages": _list_messages(trace),
        "reference": reference,
        "tags": list(trace.tags),
        "metadata": dict(trace.metadata),
    }
    return {key: value for key, value in message.items() if value}


def _list_messages(trace: Trace) -> list[dict[str, str]]:
    if not trace.turns:
        return []
    turns = [{"role": turn.role, "content": turn.content} for turn in trace.turns]
    return [*turns, {"role": "user", "content": trace.query}] if trace.query else turns


async def _wait_for(answered: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever the user's coroutine gives
    return await answered


def _post(url: str, *, question: dict[str, Any], timeout_seconds: float) -> object:
    request = urllib.request.Request(  # noqa: S310 - http and https only, see load_target
        url,
        data=json.dumps(question).encode(),
        headers={"content-type": "application/json", "accept": "application/json"},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout_seconds) as response:  # noqa: S310 - see above
            body = response.read(LARGEST_REPLY_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise InputError(f"{url} answered {error.code} {error.reason}") from error
    except (urllib.error.URLError, TimeoutError) as error:
        reason = getattr(error, "reason", error)
        words = getattr(reason, "strerror", None) or reason
        raise InputError(f"{url} cannot be reached: {words}") from error
    if len(body) > LARGEST_REPLY_BYTES:
        raise InputError(f"{url} answered more than {LARGEST_REPLY_BYTES} bytes")
    try:
        return json.loads(body)
    except ValueError as error:
        raise InputError(f"{url} answered no JSON; expected {{answer, contexts}}") from error
