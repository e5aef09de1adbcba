"""How much evidence a page needs, so that the whole fleet is paged wrongly about once a year at most."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from ragsonde.regression.block_lengths import BLOCKS_PER_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE_DAYS = 365.0
WARN_DAYS = 30.0
RESOLVE_DAYS = 30.0
ACTIVE_DAYS = 7


def count_active(last_traces: Iterable[float], *, day_start: float) -> int:
    """The streams with a trace in the 7 days before a day begins; moments in seconds since the epoch.

    Counted once a day, so that a threshold does not move under the evidence of an hour. A stream whose last
    trace is later than `day_start` counts too: it has had traces before as far as is known.
    """
    return sum(last >= day_start - ACTIVE_DAYS * 86_400 for last in last_traces)


def find_page_threshold(active_streams: int, *, page_days: float = PAGE_DAYS) -> float:
    """Evidence days that a page needs: `page_days` for each active stream.

    Each stream passes 365 N days about once in 365 N days or less often, so N of them do once in 365 days: by
    addition, whatever the streams have to do with each other.
    """
    return page_days * max(1, active_streams)


def find_log_blocks(days: float) -> float:
    """A threshold in days as the log of blocks, the measure of `sum_evidence`."""
    return math.log(days * BLOCKS_PER_DAY)


def count_active_by_day(days_of_streams: Iterable[Iterable[int]]) -> Counter[int]:
    """For each day since the epoch, the streams with traces in the 7 days before it; days of none are 0.

    Args:
        days_of_streams: for each stream the days on which it has traces.
    """
    return Counter(
        day
        for days in days_of_streams
        for day in {day + later for day in days for later in range(1, ACTIVE_DAYS + 1)}
    )
