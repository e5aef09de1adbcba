"""What is sent of an alert to other places."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from ragsonde_schemas.value import Value


class AlertEvent(StrEnum):
    """What happened to an alert."""

    WARN = "warn"
    PAGE = "page"
    REMINDER = "reminder"
    """a page is open since another day, and nobody has said that it is known"""
    RESOLVE = "resolve"
    """by recovery"""
    ACCEPTED = "accepted"
    FALSE = "false"
    CLOSED = "closed"
    """by a person, in any other way"""


ENDS = (AlertEvent.RESOLVE, AlertEvent.ACCEPTED, AlertEvent.FALSE, AlertEvent.CLOSED)
"""What ends an alert: one of them comes."""


class NoticedAlert(Value):
    """An alert as it stands when the notice is sent, which may be later than what the notice tells of.

    Attributes:
        kind: `warn`, `page` once it was one, `resolve` once it ended by recovery.
        since: when the fall began.
        opened_at: the end of the five minutes that raised it; `paged_at` of those that made it a page.
        link: to the alert on the page, where its address is configured.
    """

    number: int
    kind: Literal["warn", "page", "resolve"]
    since: datetime
    opened_at: datetime
    paged_at: datetime | None = None
    closed_at: datetime | None = None
    acked_at: datetime | None = None
    link: str | None = None


class NoticedStream(Value):
    """Whose scores fell, as series name it."""

    scorer: str
    judge: str
    app: str
    environment: str


class AlertNotice(Value):
    """One notice: numbers, names, ids and links, nothing of what traces say.

    Attributes:
        notice_id: the same when it is sent again.
        noted_at: when it was to be told.
        summary: one sentence.
        explanation: of the alert; the keys that it has at all are those of the documentation.
    """

    schema_version: Literal["1"] = "1"
    notice_id: str
    event: AlertEvent
    noted_at: datetime
    alert: NoticedAlert
    stream: NoticedStream
    summary: str
    explanation: dict[str, Any]
