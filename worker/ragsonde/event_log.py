"""Log lines are events with fields: one JSON object a line, or text for people."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import TypeAlias

from ragsonde_schemas.errors import RagsondeError

Cover: TypeAlias = Callable[[str], str]
ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

_STANDARD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_QUIET_LOGGERS = ("amqp", "kombu", "celery", "alembic", "httpx", "httpcore", "openai", "LiteLLM")


LONGEST_FIELD = 2_000
LONGEST_TRACEBACK = 20_000
"""Characters: what a producer, a provider or a driver says may be of any length, a line of the log is not."""


class JsonFormatter(logging.Formatter):
    """One JSON object an event: time, level, logger, event and its fields.

    Args:
        cover: takes out of what is to be cut what may not be kept: half of an address is found by nothing.
    """

    def __init__(self, cover: Cover | None = None) -> None:
        super().__init__()
        self._cover = cover

    def format(self, record: logging.LogRecord) -> str:
        """The event as one line."""
        event: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": cut(record.getMessage(), LONGEST_FIELD, cover=self._cover),
            **{name: _cut_field(value, self._cover) for name, value in find_fields(record).items()},
        }
        if record.exc_info:
            event["traceback"] = format_traceback(record.exc_info, cover=self._cover)
        return escape(json.dumps(event, default=str, ensure_ascii=False))


class TextFormatter(logging.Formatter):
    """`12:00:01 warning database_lost waited_seconds=0.5`.

    Args:
        cover: as for `JsonFormatter`.
    """

    def __init__(self, cover: Cover | None = None) -> None:
        super().__init__()
        self._cover = cover

    def format(self, record: logging.LogRecord) -> str:
        """The event as text; a traceback follows on its own lines."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        fields = "".join(
            f" {name}={escape(str(_cut_field(value, self._cover)))}"
            for name, value in find_fields(record).items()
        )
        message = cut(record.getMessage(), LONGEST_FIELD, cover=self._cover)
        line = f"{time} {record.levelname.lower()} {message}{fields}"
        return f"{line}\n{format_traceback(record.exc_info, cover=self._cover)}" if record.exc_info else line


class CoveringFormatter(logging.Formatter):
    """As another formatter, and what may not be kept is taken out of each line.

    Args:
        inner: writes the event.
        cover: from a text to the text that may be kept.
    """

    def __init__(self, inner: logging.Formatter, cover: Cover) -> None:
        super().__init__()
        self._inner = inner
        self._cover = cover

    def format(self, record: logging.LogRecord) -> str:
        """The event as the other formatter writes it, covered."""
        return self._cover(self._inner.format(record))


def build_formatter(log_format: str, cover: Cover | None) -> logging.Formatter:
    """Writes events as `json` or `text`, covered before anything is cut and as whole lines."""
    formatter = JsonFormatter(cover) if log_format == "json" else TextFormatter(cover)
    return formatter if cover is None else CoveringFormatter(formatter, cover)


def escape(text: str) -> str:
    r"""The text on one line: what is not printable as JSON writes it, `\n` or `\u202e`.

    A name that a producer chose neither begins a line of its own in a log nor steers who reads it.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def cut(text: str, longest: int, *, cover: Cover | None = None) -> str:
    """The text, or its beginning and its end where it is longer, with how much is left out between them.

    With `cover` what is longer is covered before it is cut.
    """
    if len(text) > longest and cover is not None:
        text = cover(text)
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}... {len(text) - 2 * half} characters left out ...{text[-half:]}"


def format_traceback(exc_info: ExcInfo, *, cover: Cover | None = None) -> str:
    """Where it happened and what kinds of errors they were, without their words.

    A driver's or a library's message may hold the content of a trace; ragsonde's own never do.
    """
    lines: list[str] = []
    error = exc_info[1]
    while error is not None:
        words = f": {error}" if isinstance(error, RagsondeError) else ""
        frames = "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
        lines[:0] = [frames, f"{type(error).__module__}.{type(error).__qualname__}{words}"]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return cut("\n".join(line for line in lines if line), LONGEST_TRACEBACK, cover=cover)


def _cut_field(value: object, cover: Cover | None) -> object:
    """Numbers stay numbers; what is long in any other form becomes text and is cut."""
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = value if isinstance(value, str) else str(value)
    return value if len(text) <= LONGEST_FIELD else cut(text, LONGEST_FIELD, cover=cover)


def find_fields(record: logging.LogRecord) -> dict[str, object]:
    """The fields that the caller gave in `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS}


def set_up_logging(*, level: str, log_format: str, cover: Cover | None = None) -> None:
    """Sends events to stderr; libraries speak from warning on.

    Args:
        level: least severe event of ours: debug, info, warning, error.
        log_format: `json` or `text`.
        cover: takes out of a line what may not be kept; None: nothing is to be.
    """
    destination = logging.StreamHandler(sys.stderr)
    destination.setFormatter(build_formatter(log_format, cover))
    logging.basicConfig(level=level.upper(), handlers=[destination], force=True)
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
