"""The monitor's job that says which apps, environments and releases are named in series."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.label_naming import NOTHING_WANTED, WantedNames, choose_names
from ragsonde.monitor.loop import Job
from ragsonde.storage.label_budget import read_activity, read_named, write_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde_schemas.label_names import LabelActivity, NamedLabel

logger = logging.getLogger(__name__)

LABELS = "labels"
LABEL_JOB_NAMES = (LABELS,)
LABEL_SECONDS = 60.0
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
DAY_SECONDS = 600.0
"""Between two looks at a whole day, which are some seconds of Postgres's where it has millions of traces."""


@dataclass
class _LookAtDay:
    """What came in a day, and when to look again."""

    activity: Sequence[LabelActivity] = ()
    again_at: float = float("-inf")


@dataclass(frozen=True, kw_only=True)
class LabelChores:
    """The job's work, with what it needs.

    Attributes:
        engine: of this process.
        clock: tells what is a day ago.
        wanted: names that the settings ask for.
    """

    engine: Engine
    clock: Clock
    wanted: WantedNames = NOTHING_WANTED
    _folded: set[NamedLabel] = field(default_factory=set)
    _day: _LookAtDay = field(default_factory=_LookAtDay)

    def build_jobs(self) -> tuple[Job, ...]:
        """The job, as the monitor runs it: one monitor at a time, as all processes read what it writes."""
        return (Job(name=LABELS, interval_seconds=LABEL_SECONDS, run=self.name_labels),)

    def name_labels(self) -> None:
        """Writes which values are named from now on, and warns once when some of a label are not.

        Raises:
            DatabaseLostError: what was named stays named.
        """
        now = self.clock.now()
        named = read_named(self.engine)
        names = choose_names(
            named,
            read_activity(self.engine, since=now - HOUR),
            day=self._read_day(),
            wanted=self.wanted,
            now=now,
        )
        write_named(self.engine, names.values, before=named)
        for label, count in names.folded.items():
            if count and label not in self._folded:
                logger.warning("labels_without_a_name", extra={"label": label.value, "values": count})
            (self._folded.add if count else self._folded.discard)(label)

    def _read_day(self) -> Sequence[LabelActivity]:
        """What was stored in the last day, as it was some minutes ago."""
        look = self._day
        if self.clock.monotonic() >= look.again_at:
            look.activity = read_activity(self.engine, since=self.clock.now() - DAY)
            look.again_at = self.clock.monotonic() + DAY_SECONDS
        return look.activity
