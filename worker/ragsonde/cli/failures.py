"""What a failed command says and with which code it exits."""

from __future__ import annotations

import os
import sys
import traceback
from enum import IntEnum
from typing import Protocol, TextIO, TypeGuard

from ragsonde.cli.program import name_program, name_quoted
from ragsonde_schemas.errors import (
    BrokerLostError,
    ConfigError,
    DatabaseLostError,
    JudgePausedError,
    JudgeUnavailableError,
    RagsondeError,
    SetupError,
)


class UsageError(Protocol):
    """What the parser of the command line raises."""

    def format_message(self) -> str:
        """What is wrong, in words."""
        ...


class OutputLostError(RagsondeError):
    """Standard output cannot be written: a full disk behind it, or it is closed."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"standard output cannot be written: {reason}")


class ReaderGoneError(RagsondeError):
    """Who read standard output has what it wanted: `| head`."""

    def __init__(self) -> None:
        super().__init__("standard output is not read any more")


class ExitCode(IntEnum):
    """How a command ended, for scripts."""

    OK = 0
    BELOW = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    UNAVAILABLE = 4
    INTERNAL = 70
    INTERRUPTED = 130


_MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.BELOW: "done, but below what was asked for",
    ExitCode.BAD_INPUT: "bad input: an option, a file or a setting",
    ExitCode.UNDECIDED: "too little is known yet for an answer",
    ExitCode.UNAVAILABLE: "a service, judge or output cannot be reached or is not set up",
    ExitCode.INTERNAL: "a fault of ragsonde itself",
    ExitCode.INTERRUPTED: "interrupted",
}
_LISTED = "; ".join(f"{code.value} {meaning}" for code, meaning in _MEANINGS.items())
EXIT_CODES_HELP = f"Exit codes: {_LISTED}."

_OUTSIDE = (
    BrokerLostError,
    DatabaseLostError,
    JudgePausedError,
    JudgeUnavailableError,
    OutputLostError,
    SetupError,
)


def report_failure(error: Exception, *, is_debug: bool) -> ExitCode:
    """Tells on stderr what went wrong and what to do; the code to exit with.

    A person's mistake or an outage is one line a problem. A fault of ours is named with its type. The
    traceback is shown only where it was asked for. Where stderr cannot be written, the code must do.
    """
    try:
        if is_debug:
            traceback.print_exception(error)
        for line in describe_failure(error):
            sys.stderr.write(f"ragsonde: {name_quoted(line)}\n")
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)
    return choose_exit_code(error)


def silence(stream: TextIO) -> None:
    """Lets what a stream still holds go nowhere: flushing it at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def describe_failure(error: Exception) -> tuple[str, ...]:
    """One line for each problem."""
    if isinstance(error, ConfigError):
        return error.problems
    if isinstance(error, RagsondeError):
        return (str(error),)
    if is_usage_error(error):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else name_program()
        message = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
        return (f"{message}; `{command} --help` shows how it is called",)
    return (
        f"internal error: {type(error).__name__}: {error}",
        "this is a fault of ragsonde: run it again with --debug and report the traceback",
    )


def choose_exit_code(error: Exception) -> ExitCode:
    """The code that a script can act upon."""
    if isinstance(error, _OUTSIDE):
        return ExitCode.UNAVAILABLE
    if isinstance(error, RagsondeError) or is_usage_error(error):
        return ExitCode.BAD_INPUT
    return ExitCode.INTERNAL


def is_usage_error(error: Exception) -> TypeGuard[UsageError]:
    """True for what the parser of the command line raises, whichever copy of Click's classes Typer uses."""
    return callable(getattr(error, "format_message", None))
