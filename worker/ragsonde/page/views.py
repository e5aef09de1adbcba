"""The views: values that were read, as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.page.rendering import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.ports import Watching


@dataclass(frozen=True, kw_only=True)
class Views:
    """What people see; each method answers one path and returns None for what there is not.

    Attributes:
        watching: reads it.
    """

    watching: Watching

    def show_overview(self, _arguments: Mapping[str, str]) -> str | None:
        """Where every trace of the last day went."""
        return render("overview.html", ledger=self.watching.read_ledger())
