"""The figures of a fall: words and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.page.wording import say_age, say_drop, say_moment, say_score
from ragsonde.regression.fall_wording import say_chance
from ragsonde.regression.threshold import WARN_DAYS

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.told_explanation import ToldExplanation
    from ragsonde_schemas.watched_fall import FallDetail

_SMALL_SHIFT = 0.005
"""What two places show."""
_KINDS = {"provisional": "provisional baseline", "floor": "floor"}


def list_figures(
    detail: FallDetail, told: ToldExplanation, *, scale: float, now: datetime
) -> tuple[tuple[str, str], ...]:
    """What is known of how far it fell and how sure that is, in plain words.

    Args:
        detail: of the fall.
        told: its explanation.
        scale: of the scorer.
        now: what ages are reckoned from.
    """
    since = detail.fall.since
    rows = [("began", f"{say_moment(since)}, {say_age(since, now=now)}")]
    if told.baseline_mean is not None and told.mean is not None:
        kind = _KINDS.get(told.baseline_kind or "", "baseline")
        before, after = say_score(told.baseline_mean * scale), say_score(told.mean * scale)
        rows.append((f"mean of the {kind}, and since then", f"{before}, then {after}"))
    if told.n is not None:
        rows.append(("traces since then, when it was told", f"{told.n:,}"))
    if (chance := say_chance(told.evidence_days)) is not None:
        rows.append(("by chance alone", chance + _say_needed(detail.threshold_days)))
    if told.drop is not None and told.mix_shift is not None:
        rows += [
            ("of traces of the same kind", f"fell by {say_drop(told.drop * scale)}"),
            ("because there are more of the hard kinds", _say_mix(told.mix_shift * scale)),
        ]
    if told.overdispersion is not None:
        rows.append(("hours differ, as a multiple of what chance alone does", f"{told.overdispersion:.1f}"))
    return tuple(rows)


def _say_needed(days: float | None) -> str:
    return "" if days is None else f"; a page needs {days:,.0f} days, a warning {WARN_DAYS:.0f}"


def _say_mix(shift: float) -> str:
    if abs(shift) < _SMALL_SHIFT:
        return "no part of it"
    return f"{say_drop(shift)} more" if shift > 0 else f"{say_drop(-shift)} less"
