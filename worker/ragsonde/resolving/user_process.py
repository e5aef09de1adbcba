"""The process in which users' functions run; started by `child`, it ends when its starter does."""

from __future__ import annotations

import os
import pickle
import threading
from typing import TYPE_CHECKING, Any, BinaryIO

from ragsonde.resolving.answering import answer
from ragsonde.resolving.loading import load_functions
from ragsonde_schemas.errors import ConfigError, ExtractionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.resolving.loading import UserFunction
    from ragsonde.resolving.question import Question

LOADED = 0
"""The number of the first reply, which tells what could not be loaded; those of questions begin at 1."""


def main() -> None:
    """Loads the functions, then answers each question in a thread of its own until the pipe is closed.

    A thread that hangs keeps nobody: the process ends at once when its starter is gone.
    """
    questions, replies = _take_pipes()
    places, limits = pickle.load(questions)  # noqa: S301 - our own process wrote it
    functions: Mapping[str, UserFunction] = {}
    problems: tuple[str, ...] = ()
    try:
        functions = load_functions(places)
    except ConfigError as error:
        problems = error.problems
    answering = _Answering(functions, limits, replies)
    answering.reply(LOADED, problems, is_answer=not problems)
    while True:
        try:
            number, question = pickle.load(questions)  # noqa: S301 - as above
        except EOFError:
            os._exit(0)
        answering.begin(number, question)


class _Answering:
    """Answers questions, each under its number."""

    def __init__(self, functions: Mapping[str, UserFunction], limits: DecodingLimits, out: BinaryIO) -> None:
        self._functions = functions
        self._limits = limits
        self._out = out
        self._lock = threading.Lock()

    def begin(self, number: int, question: Question) -> None:
        """Starts the thread that answers."""
        thread = threading.Thread(
            target=self._answer, args=(number, question), name=f"call {question.name}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            message = f"{question.label} is not called: no thread could be started"
            self.reply(number, message, is_answer=False)

    def reply(self, number: int, value: object, *, is_answer: bool) -> None:
        """Sends an answer, or what went wrong; the value in bytes of its own, read by who asked."""
        message = pickle.dumps((number, is_answer, pickle.dumps(value)))
        with self._lock:
            self._out.write(message)
            self._out.flush()

    def _answer(self, number: int, question: Question) -> None:
        value: Any
        try:
            value = answer(self._functions[question.name], question, limits=self._limits)
        except ExtractionError as error:
            self.reply(number, str(error), is_answer=False)
        else:
            self.reply(number, value, is_answer=True)


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Both pipes, away from standard input and output: what users' functions print goes to stderr."""
    questions, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(questions, "rb"), os.fdopen(replies, "wb")
