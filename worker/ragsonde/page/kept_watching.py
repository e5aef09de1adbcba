"""The overview, read in the background and kept: of many traces it takes seconds, and a page may not."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, NamedTuple

from ragsonde_schemas.errors import RagsondeError

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde.ports import Clock, Watching
    from ragsonde_schemas.history import TraceHistory
    from ragsonde_schemas.label_names import LabelNames
    from ragsonde_schemas.watched import LowTrace, Overview, Place, Spending
    from ragsonde_schemas.watched_alert import AlertEvidence, JudgeStanding
    from ragsonde_schemas.watched_fall import FallDetail, FallFilter, FallList, FallWatch
    from ragsonde_schemas.watched_list import Sign, TraceFilter, TracePage

logger = logging.getLogger(__name__)

QUICK_SECONDS = 0.2
"""A reading that takes no longer is made for each request: what has just come is on the page."""
PAUSE_SECONDS = 30.0
MOST_PAUSE_SECONDS = 120.0
SHARE_OF_TIME = 0.05
"""At most so much of the time Postgres is busy with it: a reading that takes long is made less often."""
CLOSING_SECONDS = 5.0
MOST_PAUSES = 3
"""What is older than so many pauses is not shown: it is read anew, or the page says that it cannot be."""


class _Kept(NamedTuple):
    """A reading: when it ended (monotonic), how long it took, and what it found."""

    read_at: float
    took_seconds: float
    overview: Overview


class KeptWatching:
    """Answers with the overview that was read last; everything else is read when it is asked for.

    Args:
        watching: reads.
        clock: tells how old what is kept is.
        pause_seconds: between readings, at the least.
    """

    def __init__(self, watching: Watching, *, clock: Clock, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._watching = watching
        self._clock = clock
        self._pause_seconds = self._least_seconds = pause_seconds
        self._reading = threading.Lock()
        self._kept: _Kept | None = None
        self._lowest: dict[tuple[Place, str], tuple[float, tuple[LowTrace, ...]]] = {}
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="page-overview", daemon=True)

    def start(self) -> None:
        """Begins to read in the background."""
        self._thread.start()

    def close(self) -> None:
        """Ends the reading; one that is under way has five seconds."""
        self._is_closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=CLOSING_SECONDS)

    def now(self) -> datetime:
        """The moment that ages are reckoned from."""
        return self._watching.now()

    def read_overview(self) -> Overview:
        """What was read last; read now where that is quick, or there is nothing, or it is too old.

        Raises:
            DatabaseLostError: it has to be read now, and Postgres is away.
        """
        kept = self._find_kept()
        if kept is not None:
            return kept
        with self._reading:
            return self._find_kept() or self._read()

    def list_lowest(self, place: Place, *, judge: str) -> tuple[LowTrace, ...]:
        """A place's worst traces, kept for as long as the overview.

        Raises:
            DatabaseLostError: they have to be read now, and Postgres is away.
        """
        now = self._clock.monotonic()
        kept = self._lowest.get((place, judge))
        if kept is not None and now - kept[0] < self._pause_seconds:
            return kept[1]
        found = self._watching.list_lowest(place, judge=judge)
        fresh = {key: one for key, one in self._lowest.items() if now - one[0] < self._pause_seconds}
        self._lowest = {**fresh, (place, judge): (now, found)}
        return found

    def list_traces(self, wanted: TraceFilter) -> TracePage:
        """As the one that reads does."""
        return self._watching.list_traces(wanted)

    def read_alert(self, place: Place | None, *, sign: Sign) -> AlertEvidence:
        """As the one that reads does."""
        return self._watching.read_alert(place, sign=sign)

    def list_spending(self) -> tuple[Spending, ...]:
        """As the one that reads does."""
        return self._watching.list_spending()

    def read_trace(self, trace_id: str, *, app: str | None = None) -> TraceHistory:
        """As the one that reads does."""
        return self._watching.read_trace(trace_id, app=app)

    def list_standings(self) -> tuple[JudgeStanding, ...]:
        """As the one that reads does."""
        return self._watching.list_standings()

    def read_names(self) -> LabelNames:
        """As the one that reads does."""
        return self._watching.read_names()

    def read_fall_watch(self) -> FallWatch:
        """As the one that reads does."""
        return self._watching.read_fall_watch()

    def list_falls(self, wanted: FallFilter) -> FallList:
        """As the one that reads does."""
        return self._watching.list_falls(wanted)

    def read_fall(self, number: int) -> FallDetail | None:
        """As the one that reads does."""
        return self._watching.read_fall(number)

    def _find_kept(self) -> Overview | None:
        kept = self._kept
        if kept is None or kept.took_seconds < QUICK_SECONDS:
            return None
        age_seconds = self._clock.monotonic() - kept.read_at
        return None if age_seconds > MOST_PAUSES * self._pause_seconds else kept.overview

    def _read(self) -> Overview:
        begun = self._clock.monotonic()
        overview = self._watching.read_overview()
        ended = self._clock.monotonic()
        pause_seconds = max(self._least_seconds, (ended - begun) / SHARE_OF_TIME)
        self._pause_seconds = min(pause_seconds, MOST_PAUSE_SECONDS)
        self._kept = _Kept(ended, ended - begun, overview)
        return overview

    def _keep(self) -> None:
        while not self._is_closing.is_set():
            try:
                with self._reading:
                    self._read()
            except RagsondeError as error:
                logger.warning("overview_not_read", extra={"error": type(error).__name__})
            except Exception:
                # whatever it is, the next reading may succeed, and a request tells of it meanwhile
                logger.exception("overview_not_read")
            self._is_closing.wait(self._pause_seconds)
