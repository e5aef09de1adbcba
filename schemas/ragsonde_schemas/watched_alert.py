"""What lies behind an alert, as values."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from ragsonde_schemas.value import Value
from ragsonde_schemas.watched import JudgeCounts, Place, ScorerSummary
from ragsonde_schemas.watched_list import ListedTrace


class WindowCounts(Value):
    """What one judge made of live traces that occurred in a stretch of time.

    Attributes:
        share: which part of the evaluations was looked at.
    """

    since: datetime
    until: datetime
    counts: JudgeCounts
    share: float = 1.0


class ChangeKind(StrEnum):
    """What may be new."""

    RELEASE = "release"
    JUDGE = "judge"
    MODEL = "model"
    RULE = "rule"
    VERSION = "version"


class Change(Value):
    """Something that was not there before.

    Attributes:
        name: of the release, the judge with its fingerprint, the field and its extraction rule, ...
        since: when it was first seen.
    """

    kind: ChangeKind
    name: str
    since: datetime


class AlertEvidence(Value):
    """What lies behind an alert, read when somebody looks.

    Attributes:
        place: None: of all.
        windows: the last hour, the day before it, the week before that; one a judge each.
        scorers: of the last hour; of a place alone.
        changes: what was first seen within the last day, the newest first.
        examples: traces that show what it is about, newest first.
    """

    place: Place | None
    windows: tuple[WindowCounts, ...]
    examples: tuple[ListedTrace, ...]
    scorers: tuple[ScorerSummary, ...] = ()
    changes: tuple[Change, ...] = ()


class JudgeStanding(Value):
    """Where one judge's model stands, for all workers.

    Attributes:
        waiting: evaluations that wait for the judge, at most `MOST_WAITING` of all judges.
        waits_since: when the first of these was born.
        paused_since: None: it is not paused.
        pause_message: what its provider said.
    """

    judge: str
    fingerprint: str
    waiting: int = 0
    waits_since: datetime | None = None
    paused_since: datetime | None = None
    pause_message: str = ""


MOST_WAITING = 10_000
"""As many waiting evaluations are counted, not more."""
