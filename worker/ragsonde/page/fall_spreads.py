"""The scores before a fall and since it began, by tenths, beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.page.charts import BinLink, draw_histogram
from ragsonde.page.wording import say_since

if TYPE_CHECKING:
    from datetime import datetime

    from markupsafe import Markup

    from ragsonde_schemas.watched_fall import FallDetail


class SpreadView(NamedTuple):
    """One of them: of which time, how many scores, and the picture; '' where none is kept."""

    words: str
    time: str
    n: str
    histogram: Markup | str


def list_spreads(detail: FallDetail, *, name: str, now: datetime) -> tuple[SpreadView, ...]:
    """Both, the time of the baseline first; () where nothing of either is kept.

    Args:
        detail: of the fall.
        name: of the stream, for who hears the pictures.
        now: whose day it is.
    """
    if detail.before is None and detail.after is None:
        return ()
    found = []
    for words, one in (("before, in the baseline", detail.before), ("since it began", detail.after)):
        if one is None:
            found.append(SpreadView(words, "", "none is kept", ""))
            continue
        number = sum(one.bins)
        picture = draw_histogram([BinLink(n) for n in one.bins], name=f"{name}, {words}")
        time = f"{say_since(one.since, now=now)} to {say_since(one.until, now=now)} UTC"
        found.append(SpreadView(words, time, f"{number:,} {'score' if number == 1 else 'scores'}", picture))
    return tuple(found)
