"""Redaction that a function of the user's is a part of: in a process of its own, for a limited time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.decoding.limits import DecodingLimits
from ragsonde.redaction.placeholders import HOOK
from ragsonde.resolving.processes import ProcessCalls
from ragsonde.resolving.question import REDACTION, Question
from ragsonde_schemas.redaction import Replaced, add_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragsonde.extraction.mapping_options import FunctionOptions
    from ragsonde.ports import Redaction
    from ragsonde.resolving.resolver import Calls


class HookedRedaction:
    """Patterns first, then the user's function: what it fails on is not kept at all.

    Args:
        inner: by patterns.
        hook: the function, from a text to the text that may be kept.
        limits: how much it may give.
        start_calls: makes what calls it, of its name with the place where it is set.

    Raises:
        ConfigError: it cannot be found or imported.
        SetupError: importing it ends its process or takes too long.
    """

    def __init__(
        self,
        inner: Redaction,
        hook: FunctionOptions,
        *,
        limits: DecodingLimits | None = None,
        start_calls: Callable[..., Calls] = ProcessCalls,
    ) -> None:
        self.kinds = inner.kinds
        self.reads_texts_only = True
        self._inner = inner
        self._hook = hook
        self._calls = start_calls({hook.function: "redaction.hook"}, limits=limits or DecodingLimits())

    def replace(self, texts: Sequence[str]) -> Replaced[tuple[str, ...]]:
        """Texts as they may be kept, blank ones as they are.

        Raises:
            ExtractionError: the function failed or took too long: none of the texts may be kept.
        """
        given = self._inner.replace(texts)
        asked = tuple(dict.fromkeys(text for text in given.value if text.strip()))
        if not asked:
            return given
        question = Question(
            name=self._hook.function,
            argument=asked,
            timeout_seconds=self._hook.timeout_seconds,
            field=REDACTION,
        )
        answers = dict(zip(asked, self._calls.ask(question), strict=True))
        kept = tuple(answers.get(text, text) for text in given.value)
        changed = sum(new != old for new, old in zip(kept, given.value, strict=True))
        return Replaced(kept, add_counts(given.counts, {HOOK: changed} if changed else {}))

    def replace_names(self, texts: Sequence[str]) -> Replaced[tuple[str, ...]]:
        """By patterns alone: a function that reads prose is not asked for ids."""
        return self._inner.replace_names(texts)

    def find_places(self, text: str) -> Sequence[tuple[int, int, str]]:
        """By patterns alone."""
        return self._inner.find_places(text)

    def cover(self, text: str) -> str:
        """By patterns alone."""
        return self._inner.cover(text)
