"""What the settings say about people's data, handed down the path of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.ports import Redaction, UserKeys


@dataclass(frozen=True, kw_only=True)
class Privacy:
    """How people's data are kept out of what rests or leaves.

    Attributes:
        user_keys: by which users' ids become pseudonyms, always.
        redaction: what is taken out of texts; None: nothing.
        user_id_names: further names of attributes and keys that hold a user's id.
        keeps_unreadable: bodies that cannot be read are parked as they came, in spite of redaction.
        on_redacted: is told how many places were replaced, by kind; must not raise.
    """

    user_keys: UserKeys
    redaction: Redaction | None = None
    user_id_names: tuple[str, ...] = ()
    keeps_unreadable: bool = False
    on_redacted: Callable[[dict[str, int]], None] = lambda _counts: None
