"""The printers of an evaluation: for people, for scripts, for CI."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from ragsonde.cli.failures import ReaderGoneError, silence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ragsonde.api.report import ItemResult, Report
    from ragsonde.cli.checks import Check
    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer

PRINTERS = {
    "table": "ragsonde.cli.evaluation_table:TablePrinter",
    "json": "ragsonde.cli.evaluation_json:JsonPrinter",
    "junit": "ragsonde.cli.evaluation_junit:JunitPrinter",
}


class Printer(Protocol):
    """Shows an evaluation on standard output."""

    def add(self, result: ItemResult) -> None:
        """Takes the next trace's result."""
        ...

    def end(self, report: Report, *, checks: Sequence[Check], bad_count: int) -> None:
        """Takes the whole, when all traces are done.

        Args:
            report: the results summed up.
            checks: what the run had to reach.
            bad_count: messages that were left out because they are no traces.
        """
        ...


class LastingPrinter:
    """A printer whose reader may leave: what is demanded of a run is judged to its end nevertheless."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer

    def add(self, result: ItemResult) -> None:
        """Shows the trace to whoever still reads."""
        with _outliving_reader():
            self._printer.add(result)

    def end(self, report: Report, *, checks: Sequence[Check], bad_count: int) -> None:
        """Shows the whole to whoever still reads."""
        with _outliving_reader():
            self._printer.end(report, checks=checks, bad_count=bad_count)
            sys.stdout.flush()


def make_printer(form: str, *, scorers: Sequence[Scorer], judge: Judge) -> Printer:
    """The printer of that form."""
    module, _, name = PRINTERS[form].partition(":")
    make = cast("Callable[..., Printer]", getattr(import_module(module), name))
    return make(scorers=scorers, judge=judge)


@contextmanager
def _outliving_reader() -> Iterator[None]:
    try:
        yield
    except ReaderGoneError:
        silence(sys.stdout)
