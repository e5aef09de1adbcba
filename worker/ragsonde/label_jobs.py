"""The monitor's job that says which apps, environments and releases are named in series."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.label_naming import choose_names
from ragsonde.monitor import Job
from ragsonde.storage.label_budget import read_activity, read_named, write_named

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde_schemas.label_names import NamedLabel

logger = logging.getLogger(__name__)

LABELS = "labels"
LABEL_JOB_NAMES = (LABELS,)
LABEL_SECONDS = 60.0
HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class LabelChores:
    """The job's work, with what it needs."""

    engine: Engine
    clock: Clock
    _folded: set[NamedLabel] = field(default_factory=set)

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
        names = choose_names(named, read_activity(self.engine, since=now - HOUR), now=now)
        write_named(self.engine, names.values, before=named)
        for label, count in names.folded.items():
            if count and label not in self._folded:
                logger.warning("labels_without_a_name", extra={"label": label.value, "values": count})
            (self._folded.add if count else self._folded.discard)(label)
