"""Calls a function of the user's and reads what it gives: within limits, and as plain values of ours."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.mapping_paths import name_kind
from ragsonde.extraction.mapping_values import Reader
from ragsonde.extraction.texts import mend_text
from ragsonde.resolving.question import REDACTION
from ragsonde.resolving.reply import read_texts
from ragsonde_schemas.errors import ExtractionError
from ragsonde_schemas.trace import ContextOrigin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.extraction.findings import FoundContext
    from ragsonde.resolving.loading import UserFunction
    from ragsonde.resolving.question import Question


def answer(function: UserFunction, question: Question, *, limits: DecodingLimits) -> Any:  # noqa: ANN401 - by the field
    """What the function gave, read: contexts, a text, texts by id, redacted texts; None where it is not here.

    Args:
        function: the user's; a coroutine is run to its end.
        question: what it is asked.
        limits: of a message: no function may give more than a message may hold.

    Raises:
        ExtractionError: it raised, even SystemExit, or gave what the field cannot hold; names field and
            function, and holds nothing of what either said.
    """
    try:
        given = _call(function, question)
    except BaseException as error:  # user's code: nothing it raises may end the thread
        raise ExtractionError(f"{question.label} raised {type(error).__name__}") from error
    try:
        return _read(given, question, limits=limits)
    except ExtractionError:
        raise
    except Exception as error:  # an object of a class of the user's may do anything when it is read
        raise ExtractionError(f"{question.label} gave a value that raised when read") from error


def check_count(found: int, *, label: str, limits: DecodingLimits) -> None:
    """Refuses more contexts than a message may hold.

    Raises:
        ExtractionError: there are more.
    """
    if found > limits.contexts:
        raise ExtractionError(
            f"{label} gave {found} contexts, expected at most {limits.contexts}: return the best ones only"
        )


def _call(function: UserFunction, question: Question) -> Any:  # noqa: ANN401 - whatever the user's function gives
    argument = question.argument
    if question.field == REDACTION and isinstance(argument, tuple):
        return [_settle(function(text)) for text in argument]
    return _settle(function(list(argument) if isinstance(argument, tuple) else argument))


def _settle(given: Any) -> Any:  # noqa: ANN401 - as above
    return asyncio.run(_wait_for(given)) if inspect.isawaitable(given) else given


async def _wait_for(awaitable: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever the user's coroutine gives
    return await awaitable


def _read(given: object, question: Question, *, limits: DecodingLimits) -> Any:  # noqa: ANN401 - by the field
    if question.field == REDACTION:
        return _read_redacted(given, question, limits=limits)
    if isinstance(question.argument, tuple):
        texts = read_texts(given, ids=question.argument, label=question.label)
        _check_size(texts.values(), question, limits=limits)
        return {id_: _make_plain(text) for id_, text in texts.items()}
    reader = Reader(f"extractor {question.name}", ContextOrigin.EXTRACTOR)
    if question.field != "contexts":
        text = reader.read_single(given, field=question.field)
        _check_size(() if text is None else (text,), question, limits=limits)
        return _make_plain(text)
    if isinstance(given, list | tuple):
        check_count(len(given), label=question.label, limits=limits)
    contexts = reader.read_contexts(given)
    _check_size(
        (text for context in contexts or () for text in _list_texts(context)), question, limits=limits
    )
    return None if contexts is None else [_make_context_plain(context) for context in contexts]


def _read_redacted(given: Any, question: Question, *, limits: DecodingLimits) -> list[str]:  # noqa: ANN401 - as above
    texts: list[str] = []
    for text in given:
        if not isinstance(text, str):
            raise ExtractionError(f"{question.label} gave {name_kind(text)} for a text, expected text")
        texts.append(mend_text(str.__str__(text)))
    if sum(map(len, texts)) > limits.decompressed_bytes:
        raise ExtractionError(f"{question.label} gave more than {limits.decompressed_bytes} characters")
    return texts


def _check_size(texts: Iterable[str], question: Question, *, limits: DecodingLimits) -> None:
    size_bytes = sum(len(text.encode()) for text in texts)
    if size_bytes > limits.body_bytes:
        raise ExtractionError(
            f"{question.label} gave {size_bytes} bytes, expected at most {limits.body_bytes}, as in a "
            "message: return less, or raise max_body_bytes"
        )


def _list_texts(context: FoundContext) -> list[str]:
    metadata = json.dumps(context.metadata, ensure_ascii=False) if context.metadata else None
    return [text for text in (context.content, context.id, context.source_uri, metadata) if text is not None]


def _make_context_plain(context: FoundContext) -> FoundContext:
    """The context without values of the user's classes: another process does not know them."""
    return context._replace(
        content=_make_plain(context.content),
        id=_make_plain(context.id),
        source_uri=_make_plain(context.source_uri),
        score=None if context.score is None else float(context.score),
    )


def _make_plain(text: str | None) -> str | None:
    return None if text is None else str.__str__(text)
