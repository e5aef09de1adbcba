"""Replaces what patterns find in a text by placeholders."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ragsonde.redaction.folding import fold
from ragsonde.redaction.matches import Match, keep_escapes, merge_matches
from ragsonde.redaction.numbers import strip_gaps
from ragsonde.redaction.own_patterns import compile_own
from ragsonde.redaction.placeholders import HOOK, leave_placeholders, write_placeholder
from ragsonde.redaction.table import KINDS
from ragsonde_schemas.redaction import Replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ragsonde.redaction.options import RedactionOptions

_SMALLEST = re.compile(r"[@:=+(\-]|[0-9]{2}|\uff20|%40|[A-Za-z0-9]{16}")
"""What each built-in pattern needs some of: a text without any is not searched."""
NUMBERS = frozenset({"card", "iban", "phone"})
NOT_IN_NAMES = frozenset({"ip", "phone"})
"""Kinds that are not looked for in names such as a release: `1.2.3.4` is one."""


class PatternRedaction:
    """The redaction of the setting, without the user's function.

    Args:
        options: which patterns.
        read_secret: by which the same text gets the same pseudonym.
    """

    def __init__(self, options: RedactionOptions, *, read_secret: Callable[[], bytes]) -> None:
        self.kinds = (*options.own, *options.patterns, *((HOOK,) if options.hook else ()))
        self.reads_texts_only = False
        self._own = {name: compile_own(pattern) for name, pattern in options.own.items()}
        self._built_in = options.patterns
        self._has_pseudonyms = options.pseudonyms
        self._read_secret = read_secret

    def replace(self, texts: Sequence[str]) -> Replaced[tuple[str, ...]]:
        """Texts as they may be kept."""
        counts: Counter[str] = Counter()
        secret = self._read_secret() if self._has_pseudonyms else None
        kept = tuple(self._replace(text, secret=secret, counts=counts) for text in texts)
        return Replaced(kept, dict(counts))

    def replace_names(self, texts: Sequence[str]) -> Replaced[tuple[str, ...]]:
        """Ids and other names as they may be kept: two that differ stay two.

        Telephones and IP addresses are not looked for: numbers of orders and releases look like them.
        """
        counts: Counter[str] = Counter()
        kept = []
        for text in texts:
            found = self.find_places(text, without=NOT_IN_NAMES)
            kept.append(
                self._write(text, found, secret=self._read_secret(), counts=counts, is_exact=True)
                if found
                else text
            )
        return Replaced(tuple(kept), dict(counts))

    def cover(self, text: str) -> str:
        """A line of a log as it may be written: by patterns, addresses of machines kept."""
        found = self.find_places(text, without=NOT_IN_NAMES)
        return self._write(text, found, secret=None, counts=Counter()) if found else text

    def find_places(self, text: str, *, without: frozenset[str] = frozenset()) -> list[Match]:
        """The places that are to be replaced, in order, none overlapping."""
        found = merge_matches(self._search(text, without=without))
        if not found:
            return found
        return keep_escapes(text, leave_placeholders(text, found, kinds=self.kinds))

    def _search(self, text: str, *, without: frozenset[str]) -> Iterator[Match]:
        """Looks into the text as it is seen; the user's expressions also into it as it is written."""
        folded = fold(text)
        seen = folded.text
        for name, pattern in self._own.items():
            yield from (Match(*found.span(), name) for found in pattern.finditer(text))
            if seen != text:
                yield from (
                    Match(*folded.find_original(*found.span()), name) for found in pattern.finditer(seen)
                )
        if _SMALLEST.search(seen) is None:
            return
        for kind in self._built_in:
            if kind not in without:
                for found in KINDS[kind](seen):
                    yield (
                        found if seen is text else Match(*folded.find_original(found.start, found.end), kind)
                    )

    def _replace(self, text: str, *, secret: bytes | None, counts: Counter[str]) -> str:
        found = self.find_places(text)
        return self._write(text, found, secret=secret, counts=counts) if found else text

    def _write(
        self,
        text: str,
        found: Iterable[Match],
        *,
        secret: bytes | None,
        counts: Counter[str],
        is_exact: bool = False,
    ) -> str:
        """The text with placeholders; unless exact, those of two spellings of one value are the same."""
        pieces, at = [], 0
        for one in found:
            said = text[one.start : one.end]
            if not is_exact and secret is not None:
                said = fold(said).text
                said = strip_gaps(said) if one.kind in NUMBERS else said
            pieces += [text[at : one.start], write_placeholder(one.kind, said, secret=secret)]
            counts[one.kind] += 1
            at = one.end
        return "".join([*pieces, text[at:]])
