"""The monitor's jobs that send notices of alerts: one a place, so that none waits for another."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ragsonde.exposition.series import ALERT_NOTICES_DROPPED, ALERT_NOTICES_FAILED, ALERT_NOTICES_SENT
from ragsonde.monitor.loop import Job
from ragsonde.sinks.delivery import DeliveryError
from ragsonde.storage.alert_notices import (
    drop_notice,
    list_due,
    mark_delivered,
    note_ends,
    note_reminders,
    postpone_notice,
    tidy_notices,
)
from ragsonde.storage.told_alerts import find_alert
from ragsonde.watching.notices import NoticeLinks, build_notice
from ragsonde_schemas.alert_notice import ENDS
from ragsonde_schemas.http_place import WEBHOOK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock
    from ragsonde.storage.alert_notices import DueNotice
    from ragsonde_schemas.alert_notice import AlertNotice
    from ragsonde_schemas.watched_fall import Fall

logger = logging.getLogger(__name__)

SEND_SECONDS = 10.0
MOST_SECONDS = 40.0
"""Of one run; the next one goes on with what was left."""
MOST_NOTICES = 100
REMINDER_PAUSE = timedelta(days=1)
CALLING = frozenset({WEBHOOK})
"""Those that may wake somebody: an annotation is made whoever knows of the alert, and made once."""
FIRST_PAUSE_SECONDS = 15.0
LONGEST_PAUSE_SECONDS = 3_600.0
MOST_ATTEMPTS = 32
"""With these pauses about a day."""


_NO_LINKS = NoticeLinks()


class AlertSink(Protocol):
    """Takes notices one by one."""

    def send(self, notice: AlertNotice) -> None:
        """Sends one; the same may come again, with the same `notice_id`.

        Raises:
            DeliveryError: it was not taken.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class AlertNoticeChores:
    """Sends what the outbox holds, at least once, the notices of an alert in order.

    Attributes:
        sinks: by name.
        links: that notices hold.
        should_pause: asked between notices; True ends a run early.
    """

    engine: Engine
    clock: Clock
    series: Series
    sinks: Mapping[str, AlertSink]
    links: NoticeLinks = _NO_LINKS
    should_pause: Callable[[], bool] = lambda: False

    def build_jobs(self) -> tuple[Job, ...]:
        """A job for each sink, as the monitor runs it: one monitor sends."""
        for sink in self.sinks:
            self.series.add(ALERT_NOTICES_SENT, 0.0, sink=sink)
            self.series.add(ALERT_NOTICES_FAILED, 0.0, sink=sink)
            self.series.add(ALERT_NOTICES_DROPPED, 0.0, sink=sink)
        return tuple(
            Job(name=name_job(sink), interval_seconds=SEND_SECONDS, run=partial(self.send, sink))
            for sink in self.sinks
        )

    def send(self, sink: str) -> None:
        """Sends to one sink what is due.

        A notice that is refused as such is given up at once, so that those that follow it are sent; where the
        place refuses, it is sent again. While the place is away nothing more is tried.

        Raises:
            DatabaseLostError: what was sent may be sent once more.
        """
        begun = self.clock.monotonic()
        now = self.clock.now()
        note_ends(self.engine, sink, now=now)
        if sink in CALLING:
            note_reminders(self.engine, sink, now=now, pause=REMINDER_PAUSE)
        while waiting := list_due(self.engine, sink, now=now, most=MOST_NOTICES):
            for due in waiting:
                if self.clock.monotonic() - begun >= MOST_SECONDS or self.should_pause():
                    return
                if not self._send_one(sink, due):
                    return
        tidy_notices(self.engine, now=now)

    def _send_one(self, sink: str, due: DueNotice) -> bool:
        """False where the sink is away."""
        told = find_alert(self.engine, due.alert)
        if told is None or _is_known(sink, due, told):
            drop_notice(self.engine, due, now=self.clock.now())
            return True
        notice = build_notice(due, told, links=self.links)
        try:
            self.sinks[sink].send(notice)
        except DeliveryError as error:
            self._put_off(sink, due, error)
            return error.is_final
        except Exception as error:  # noqa: BLE001 - an attempt that is not counted would be made for ever
            self._put_off(sink, due, DeliveryError(f"failed: {type(error).__name__}"))
            return False
        mark_delivered(self.engine, due, now=self.clock.now())
        self.series.add(ALERT_NOTICES_SENT, sink=sink)
        return True

    def _put_off(self, sink: str, due: DueNotice, error: DeliveryError) -> None:
        now = self.clock.now()
        attempts = due.attempts + 1
        self.series.add(ALERT_NOTICES_FAILED, sink=sink)
        told = {"sink": sink, "alert": due.alert, "notice_event": due.event.value, "attempts": attempts}
        if error.is_about_content or attempts >= MOST_ATTEMPTS:
            drop_notice(self.engine, due, now=now)
            self.series.add(ALERT_NOTICES_DROPPED, sink=sink)
            logger.error("alert_notice_dropped", extra={**told, "error": str(error)})
            return
        pause = choose_pause(attempts, asked_seconds=error.retry_after_seconds or 0.0)
        postpone_notice(self.engine, due, until=now + timedelta(seconds=pause))
        logger.warning("alert_notice_failed", extra={**told, "error": str(error)})


def _is_known(sink: str, due: DueNotice, told: Fall) -> bool:
    """Whether somebody has acknowledged meanwhile what the notice calls for; ends are told all the same."""
    is_acked = told.acked_at is not None and told.acked_at >= due.noted_at
    return sink in CALLING and due.event not in ENDS and is_acked


def name_job(sink: str) -> str:
    """The name of the job that sends to a sink."""
    return f"alert_{sink}"


def choose_pause(attempts: int, *, asked_seconds: float) -> float:
    """Seconds until a notice is sent again: doubled with each, up to an hour; as long as was asked."""
    pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (min(attempts, 20) - 1))
    return max(pause, min(asked_seconds, LONGEST_PAUSE_SECONDS))
