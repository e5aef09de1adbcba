"""What keeps people's data out of what rests or leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.redaction import Replaced
    from ragsonde_schemas.user_key import KeyRing


class Redaction(Protocol):
    """Takes out of texts what the settings say.

    Attributes:
        kinds: of what may be replaced, as placeholders name them.
        reads_texts_only: a user's function is a part of it, which bytes cannot be given to.
    """

    kinds: tuple[str, ...]
    reads_texts_only: bool

    def replace(self, texts: Sequence[str]) -> Replaced[tuple[str, ...]]:
        """Texts as they may be kept.

        Raises:
            ExtractionError: the user's function failed: none of the texts may be kept.
        """
        ...

    def replace_names(self, texts: Sequence[str]) -> Replaced[tuple[str, ...]]:
        """Ids and other names as they may be kept, by patterns alone: two that differ stay two."""
        ...

    def find_places(self, text: str) -> Sequence[tuple[int, int, str]]:
        """Start, end and kind of each place that patterns find, in order, none overlapping."""
        ...

    def cover(self, text: str) -> str:
        """A line for a log, or a message about a fault, as it may be written; by patterns alone."""
        ...


class UserKeys(Protocol):
    """The keys by which users' ids become pseudonyms."""

    def read(self) -> KeyRing:
        """The keys of the deployment; the first one is made where there is none.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...
