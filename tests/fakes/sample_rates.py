"""Rates of judges without a table of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class FixedRates:
    """Rates that never change.

    Args:
        rates: by judge, 0..1.
    """

    def __init__(self, rates: Mapping[str, float]) -> None:
        self._rates = dict(rates)

    def find(self, app: str, judge: str) -> float:  # noqa: ARG002 - the same for all apps
        """The judge's rate, whatever the app."""
        return self._rates[judge]
