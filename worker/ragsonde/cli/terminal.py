"""Writes to the terminal: tables and bars for people, JSON for scripts."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ragsonde.cli.program import name_quoted
from ragsonde.event_log import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

T = TypeVar("T")

_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""They turn what follows around, to the end of the line if nothing ends them."""
_UNSEEN = (0x2028, 0x2029, *range(0xE0000, 0xE0080))
_CONTROL = {
    code: "\ufffd"
    for code in (*range(0x20), *range(0x7F, 0xA0), *_TURNING, *_UNSEEN)
    if chr(code) not in "\t\n"
}


def write_json(value: object, *, is_compact: bool = True) -> None:
    """One JSON value on standard output: as one line for scripts, else indented for people.

    What is not printable is escaped in it.
    """
    indent = None if is_compact else _INDENT
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str, indent=indent)
    sys.stdout.write("".join(f"{escape(line)}\n" for line in text.split("\n")))


def write_note(line: str) -> None:
    """One line for people on standard error, beside the result."""
    sys.stderr.write(f"ragsonde: {mend(name_quoted(line))}\n")


def mend(text: str) -> str:
    """Text that cannot steer a terminal: control characters are replaced."""
    return text.translate(_CONTROL)


def show(text: str, style: str = "") -> Text:
    """Text that is shown as it is: no markup in it is obeyed, no control character reaches the terminal."""
    return Text(mend(text), style=style)


def make_console() -> Console:
    """Standard output for people; in a pipe as wide as COLUMNS says, else so wide that no cell is cut."""
    console = Console(highlight=False)
    is_told = os.environ.get("COLUMNS", "").isdigit()
    return console if console.is_terminal or is_told else Console(highlight=False, width=_PIPE_WIDTH)


def make_table(
    *headings: str, right: Sequence[str] = (), wrapped: Sequence[str] | None = None, gap: int = 3
) -> Table:
    """An empty table without boxes.

    Args:
        headings: of the columns.
        right: headings of the columns that hold numbers.
        wrapped: headings of the columns that may take several lines; None for all.
        gap: blanks between columns.
    """
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in right else "left"
        is_whole = wrapped is not None and heading not in wrapped
        table.add_column(heading, justify=justify, overflow="fold", no_wrap=is_whole)
    return table


def is_narrow(columns: int) -> bool:
    """True for a terminal on which tables must leave something out."""
    return columns < _FULL_WIDTH


def list_causes(unscored: Mapping[Any, int], *, columns: int) -> str:
    """How many traces have no score, a line a cause; where it is narrow in words, which wrap."""
    lines = "\n".join(f"{count} {cause}" for cause, count in unscored.items())
    return lines.replace("_", " ") if is_narrow(columns) else lines


def count_traces(number: int) -> str:
    """`1 trace`, `2 traces`."""
    return f"{number} trace" if number == 1 else f"{number} traces"


def is_watched() -> bool:
    """True when a person reads standard output on a terminal."""
    return sys.stdout.isatty()


def track(items: Iterable[T], *, total: int, description: str, is_wanted: bool = True) -> Iterator[T]:
    """The items, with a progress bar on standard error while a person watches it."""
    console = Console(stderr=True)
    if not is_wanted or not console.is_terminal:
        yield from items
        return
    with _make_progress(console) as progress:
        yield from progress.track(items, total=total, description=description)


@contextmanager
def show_progress(description: str, *, total: int) -> Iterator[Callable[[int], None]]:
    """Takes how much is done by now, for a progress bar on standard error while a person watches it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with _make_progress(console) as progress:
        task = progress.add_task(description, total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def show_waiting(description: str) -> Iterator[None]:
    """A sign of life on standard error while a person watches something that takes seconds."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(description):
        yield


@contextmanager
def show_changing_line(*, is_wanted: bool = True) -> Iterator[Callable[[str], None]]:
    """Takes what is known by now, for one line on standard error while a person watches it."""
    console = Console(stderr=True)
    if not is_wanted or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("") as status:
        yield lambda line: status.update(show(line))


def _make_progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # standard output stays what it is: a result may be written to a file while the bar moves
    return Progress(*columns, console=console, transient=True, redirect_stdout=False)


_INDENT = 2
_PIPE_WIDTH = 160
_FULL_WIDTH = 100
