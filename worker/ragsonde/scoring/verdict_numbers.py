"""Numbers of contexts and sentences, as judges and people write them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ragsonde.extraction.texts import mend_text
from ragsonde.scoring.faults import refuse
from ragsonde.scoring.phrases import join_words, shorten
from ragsonde_schemas.assessment import Fault
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde_schemas.trace import Context, Trace

_LARGEST_NUMBER = 10**9
_LONGEST_SHOWN = 40


def read_number(value: object) -> str | None:
    """A number as text: strings stripped, whole numbers above 0 as they are written; None for anything else.

    2 and "2" name the same context. 1.1 is refused: as a number it is also 1.10, another sentence.
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LARGEST_NUMBER:
        return str(value)
    return None


def show_number(number: str) -> str:
    """A number that may not exist, fit for a message."""
    return shorten(mend_text(number), most=_LONGEST_SHOWN) or "''"


class TraceNumbers:
    """The numbers that exist in a trace.

    Args:
        shown: numbers of the sentences that the judge saw, in order, None for all.
    """

    def __init__(self, trace: Trace, *, shown: tuple[str, ...] | None = None) -> None:
        self._trace = trace
        self.shown = shown

    @cached_property
    def contexts(self) -> dict[str, Context]:
        """All contexts by number, in rank order."""
        return {context.number: context for context in self._trace.contexts or ()}

    @cached_property
    def blank(self) -> frozenset[str]:
        """Numbers of the blank contexts: what is said about them is ignored."""
        return frozenset(number for number, context in self.contexts.items() if context.is_blank)

    @cached_property
    def judged(self) -> frozenset[str]:
        """Numbers of the contexts that need verdicts."""
        return frozenset(self.contexts) - self.blank

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Numbers of the sentences that were shown, in order."""
        if self.shown is not None:
            return self.shown
        return tuple(sentence.number for sentence in self._trace.sentences)

    def expand(self, items: object) -> tuple[str, ...] | Fault:
        """The shown sentences that a list names, in the order of the trace, each once.

        A context's number alone means all its sentences. What names a blank context is ignored.
        """
        if not isinstance(items, list | tuple):
            return refuse(items, expected="a list of sentence numbers")
        known = frozenset(self.sentences)
        named: set[str] = set()
        unknown: dict[str, None] = {}
        for item in items:
            number = read_number(item)
            if number is None:
                return refuse(item, expected='a string such as "1.2" for each sentence')
            if number in known or number in self.judged:
                named.add(number)
            elif number.partition(".")[0] not in self.blank:
                unknown[show_number(number)] = None
        if unknown:
            kind = "sentence" if self.shown is None else "shown sentence"
            message = f"no {kind} or context has the number {join_words(list(unknown))}"
            return Fault(cause=Cause.VERDICT_MISMATCH, message=message)
        return tuple(
            number for number in self.sentences if number in named or number.partition(".")[0] in named
        )
