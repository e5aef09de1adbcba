"""Chat messages as the libraries write them, read into turns, replies, questions and tool results.

A message is an object with a role (`role`, or LangChain's `type`) and a content: a text, or parts as
OpenTelemetry GenAI, OpenAI, Anthropic, Gemini and the AI SDK write them. All takes JSON in strings too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.documents import read_delivered, unite_delivered
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.failures import is_failure
from ragsonde.extraction.message_parts import are_parts, is_call_item, is_result_item, join_texts, read_parts
from ragsonde_schemas.trace import Turn

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document

_ROLES = {
    "user": "user",
    "human": "user",
    "humanmessage": "user",
    "humanmessagechunk": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "system": "system",
    "systemmessage": "system",
    "developer": "system",
    "tool": "tool",
    "toolmessage": "tool",
    "function": "tool",
}
_WRAPPERS = frozenset({"output", "result", "response"})
_QUESTION_KEYS = ("query", "question", "input", "query_str", "str_or_query_bundle", "query_bundle", "prompt")
_LEVELS = 4


class Message(NamedTuple):
    """One message.

    Attributes:
        role: `system`, `user`, `assistant`, `tool`, or what stands there.
        text: its text parts joined by line ends, None where it has none.
        results: what tools returned, as texts; a JSON value as JSON.
        calls_tool: it ends in a tool call: its text, if any, is no answer.
        has_failures: it tells that a tool failed; what it says of that is neither a text nor a result.
    """

    role: str
    text: str | None = None
    results: tuple[str, ...] = ()
    calls_tool: bool = False
    has_failures: bool = False


def read_messages(value: object) -> tuple[Message, ...]:
    """The messages of a list, of an object with a list `messages`, of one message, or of JSON of these."""
    return tuple(message for item in _list_items(value) if (message := _read_message(item)) is not None)


def read_turns(value: object) -> tuple[Turn, ...]:
    """The turns that messages are, oldest first; each tool result is a turn of role `tool`.

    What a user's message says beside results of tools is no question: the application says so with them, and
    the turn has the role `system`.
    """
    turns: list[Turn] = []
    for message in read_messages(value):
        turns += [Turn(role="tool", content=result) for result in message.results]
        if message.text is not None:
            role = "system" if message.role == "user" and is_of_tool(message) else message.role
            turns.append(Turn(role=role, content=message.text))
    return tuple(turns)


def read_reply(value: object) -> str | None:
    """The text of the last assistant message, "" where it ends in a tool call, None where there is none.

    None too where a user's message follows: then the messages are a prompt and what was said before it.
    """
    for message in reversed(read_messages(value)):
        if message.role == "assistant":
            return "" if message.calls_tool else message.text
        if message.role == "user":
            return None
    return None


def read_role(name: str) -> str:
    """The role that a library's word for it means: `system`, `user`, `assistant`, `tool`; else the word."""
    return _ROLES.get(name.lower(), name)


def read_question(value: object) -> str | None:
    """The question that an input is: a text, or what an object says under `query`, `question`, `input`, ...

    Of messages the last one of a user that carries no results of tools, if there is one; None for anything
    else.
    """
    return _read_question(value, levels=_LEVELS)


def read_tool_message(value: object) -> tuple[Document, ...] | None:
    """What a tool delivered, where `value` is a message of a tool, or holds only such; None where it is not.

    A message of a tool has the type or role `tool`, or is one of the user that carries results of tools, as
    Anthropic writes them: its text is the user's. None also where it is blank: then nothing was recorded.
    """
    return unite_delivered(map(read_delivered, _find_results(value) or ()))


def read_tool_output(value: object) -> tuple[Document, ...] | None:
    """What a tool delivered: in a message of a tool, in text parts (MCP), in a list, or as one text.

    () = it returned that there is nothing; None = nothing was recorded: null or blank, whatever wraps it, or
    that the tool failed.
    """
    if isinstance(value, str):
        value = read_embedded(value) or value
    if is_failure(value):
        return None
    results = _find_results(value)
    if results is not None:
        return unite_delivered(map(read_delivered, results))
    content = value.get("content") if isinstance(value, dict) else None
    if isinstance(content, list):
        texts = read_parts(content).texts
        if texts or join_texts(content) is not None:
            return unite_delivered(map(read_delivered, texts))
        if not content:
            return ()
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        if key in _WRAPPERS:
            return read_delivered(inner)
    return read_delivered(value)


def is_of_tool(message: Message) -> bool:
    """True for a message of role `tool`, or of the user that carries what tools returned."""
    carries = bool(message.results) or message.has_failures
    return message.role == "tool" or (message.role == "user" and carries)


def _find_results(value: object) -> list[str] | None:
    """The results in messages of tools, as texts; None where anything else is among them, or nothing."""
    if isinstance(value, str):
        value = read_embedded(value)
    if isinstance(value, dict) and isinstance(value.get("output"), dict | list):
        is_message = "role" in value or is_result_item(value)
        value = value if is_message else value["output"]
    messages = read_messages(value)
    if not messages or not all(map(is_of_tool, messages)):
        return None
    results: list[str] = []
    for message in messages:
        results += message.results
        if message.role == "tool" and message.text is not None:
            results.append(message.text)
    return results


def _read_question(value: object, *, levels: int) -> str | None:
    if isinstance(value, str):
        embedded = read_embedded(value)
        if embedded is None:
            return value if value.strip() else None
        value = embedded
    if isinstance(value, dict) and levels:
        for key in _QUESTION_KEYS:
            question = value.get(key)
            if isinstance(question, str | dict) and (found := _read_question(question, levels=levels - 1)):
                return found
    said = [message for message in read_messages(value) if message.role == "user" and message.text]
    asked = [message for message in said if not is_of_tool(message)]
    return (asked or said)[-1].text if said else None


def _list_items(value: object) -> list[Any]:
    """The items that may be messages; LangChain lists one list a prompt."""
    if isinstance(value, str):
        value = read_embedded(value)
    if isinstance(value, dict):
        inner = value.get("messages")
        value = inner if isinstance(inner, list | dict) else [value]
        if isinstance(value, dict):
            value = [value]
    if not isinstance(value, list):
        return []
    if len(value) == 1 and isinstance(value[0], list) and _read_pair(value[0]) is None:
        value = value[0]
    return value


def _read_message(item: object) -> Message | None:
    if isinstance(item, str):
        item = read_embedded(item)
    if isinstance(item, list):
        return _read_pair(item)
    if not isinstance(item, dict):
        return None
    fields = _unwrap(item)
    role = _read_role(fields)
    if role is None:
        return None
    parts = read_parts(_find_content(fields))
    text = "\n".join(parts.texts) or None
    if role == "tool" and (is_failure(fields) or parts.has_failures):
        return Message(role, None, tuple(parts.results), has_failures=True)
    if role == "tool" and not parts.results and text is not None:
        return Message(role, None, (text,))
    is_called = bool(fields.get("tool_calls") or fields.get("function_call"))
    calls_tool = _ends_in_call(fields, is_called=is_called, calls=parts.calls)
    return Message(role, text, tuple(parts.results), calls_tool, parts.has_failures)


def _read_pair(item: list[Any]) -> Message | None:
    """LangChain's short form: `["human", "text"]`."""
    if len(item) != 2 or not all(isinstance(part, str) for part in item):  # noqa: PLR2004 a pair
        return None
    role = _ROLES.get(item[0].lower())
    return None if role is None else Message(role, item[1] if item[1].strip() else None)


def _unwrap(item: dict[str, Any]) -> dict[str, Any]:
    """The message inside a choice, a constructor of LangChain, or an object of `type` and `data`.

    A call of a tool, or its result, that stands beside messages is one of its own.
    """
    if is_call_item(item) or is_result_item(item):
        return {"role": "assistant" if is_call_item(item) else "tool", "content": [item]}
    inner = item.get("message")
    if isinstance(inner, dict):
        return {"finish_reason": item.get("finish_reason"), "role": "assistant", **_unwrap_constructor(inner)}
    return _unwrap_constructor(item)


def _unwrap_constructor(item: dict[str, Any]) -> dict[str, Any]:
    kwargs, data, path = item.get("kwargs"), item.get("data"), item.get("id")
    if isinstance(kwargs, dict) and isinstance(path, list) and path and isinstance(path[-1], str):
        return {**kwargs, "role": path[-1]}
    if isinstance(data, dict) and isinstance(item.get("type"), str):
        return {**data, "role": item["type"]}
    return item


def _read_role(fields: dict[str, Any]) -> str | None:
    role = fields.get("role")
    if not isinstance(role, str):
        role = fields.get("type")
        return _ROLES.get(role.lower()) if isinstance(role, str) else None
    return read_role(role)


def _find_content(fields: dict[str, Any]) -> object:
    parts = fields.get("parts")
    if isinstance(parts, list):
        return parts
    content = fields.get("content")
    if isinstance(content, dict):
        return content.get("parts") if isinstance(content.get("parts"), list) else [content]
    if isinstance(content, str) and content.lstrip().startswith("[{"):
        embedded = read_embedded(content)
        if isinstance(embedded, list) and are_parts(embedded):
            return embedded
    return content


def _ends_in_call(fields: dict[str, Any], *, is_called: bool, calls: list[bool]) -> bool:
    if not is_called and not any(calls):
        return False
    reason = fields.get("finish_reason", fields.get("finishReason"))
    if isinstance(reason, str) and reason:
        return "tool" in reason.lower() or "function" in reason.lower()
    return is_called or calls[-1]
