"""The words for a fall: one sentence and one way to say how sure, for notices, commands and the page.

How numbers are written, and on which scale, is each place's own matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_DAYS = 365_000
"""Of evidence: more than so many are told as 1,000 years, as the figure means nothing any more."""


def say_fall(
    name: str, told: Mapping[str, Any], *, since: str, write: Callable[[float], str] = "{:.2f}".format
) -> str:
    """`context_precision fell by 0.19 (0.12 to 0.27) since 02:40`; what is not known is left out.

    Args:
        name: of what fell.
        told: with `drop`, `drop_lower` and `drop_upper`, as an explanation holds them.
        since: when it began, in words.
        write: a drop as text.
    """
    drop, lower, upper = (told.get(key) for key in ("drop", "drop_lower", "drop_upper"))
    by = f" by {write(drop)}" if is_number(drop) else ""
    between = f" ({write(lower)} to {write(upper)})" if by and is_number(lower) and is_number(upper) else ""
    return f"{name} fell{by}{between} since {since}"


def say_chance(days: object) -> str | None:
    """How often chance alone shows such evidence: `once in 459 days`; None of what is no number."""
    if not is_number(days):
        return None
    if days > MOST_DAYS:
        return f"once in more than {MOST_DAYS // 365:,} years"
    return f"once in {days:,.0f} {'day' if round(days) == 1 else 'days'}"


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value out of JSON is one; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
