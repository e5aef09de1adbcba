"""Which traces a judge looks at: a draw by hash, the same for all judges and rates."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def draw(*, app: str, trace_id: str) -> float:
    """The trace's draw in [0, 1): smaller rates keep subsets of what larger ones keep."""
    digest = hashlib.sha256(f"{app}\x1f{trace_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def is_sampled(*, app: str, trace_id: str, rate: float) -> bool:
    """True when a judge with this rate looks at the trace."""
    return draw(app=app, trace_id=trace_id) < rate


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
