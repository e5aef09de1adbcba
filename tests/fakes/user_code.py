"""Users' functions called here and now: what `resolving` promises, without a process and without timeouts."""

from __future__ import annotations

from ragsonde.resolving.answering import answer
from ragsonde.resolving.loading import load_functions


class DirectCalls:
    """Calls in the caller's thread."""

    def __init__(self, places, *, limits) -> None:
        self._functions = load_functions(places)
        self._limits = limits

    def ask(self, question):
        return answer(self._functions[question.name], question, limits=self._limits)
