"""Alerts as annotations in Grafana: one for each alert, from when the fall began to when it ended.

Grafana gives no way to create an annotation once only, so that the one of an alert is looked for by a tag of
its own, and changed where it is found: https://grafana.com/docs/grafana/latest/developers/http_api/annotations/
"""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ragsonde.sinks.delivery import DeliveryError
from ragsonde.sinks.posting import Poster

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ragsonde_schemas.alert_notice import AlertNotice, NoticedAlert
    from ragsonde_schemas.http_place import HttpPlace

PATH = "/api/annotations"
LONGEST_TAG = 90
"""Characters; Grafana keeps 100 of a tag."""
_NO_LIST = "answered no list of annotations: is it Grafana?"


class AlertAnnotation:
    """Makes and changes annotations; needs a token that may read, create and write them.

    Args:
        place: Grafana's root URL.
        read_token: tells the token in force.

    Raises:
        ConfigError: a file that it names cannot be read.
    """

    def __init__(self, place: HttpPlace, *, read_token: Callable[[], str | None]) -> None:
        self._poster = Poster(place, content_type="application/json", read_token=read_token)

    def send(self, notice: AlertNotice) -> None:
        """Makes the alert's annotation, or changes the one that is there.

        Raises:
            DeliveryError: it is not known to be there as it should be.
        """
        tag = name_alert(notice.alert)
        found = self._find(tag)
        body = json.dumps(describe_annotation(notice, tag=tag)).encode()
        if found is None:
            self._poster.send("POST", body, suffix=PATH)
        else:
            self._poster.send("PATCH", body, suffix=f"{PATH}/{found}")

    def _find(self, tag: str) -> int | None:
        query = urlencode({"tags": tag, "limit": 1})
        answer = self._poster.send("GET", None, suffix=f"{PATH}?{query}")
        try:
            rows = json.loads(answer)
            found: Any = rows[0]["id"] if rows else None
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise DeliveryError(_NO_LIST) from error
        if found is None or type(found) is int:
            return found
        raise DeliveryError(_NO_LIST)


def name_alert(alert: NoticedAlert) -> str:
    """The tag of an alert's annotation, also where several deployments share one Grafana."""
    return f"ragsonde-alert-{alert.number}-{_count_milliseconds(alert.opened_at)}"


def describe_annotation(notice: AlertNotice, *, tag: str) -> dict[str, Any]:
    """The annotation as Grafana takes it; its text is HTML there."""
    alert, stream = notice.alert, notice.stream
    end = max(alert.closed_at or alert.paged_at or alert.opened_at, alert.since)
    text = html.escape(notice.summary)
    if alert.link is not None:
        text += f'<br><a href="{html.escape(alert.link)}">alert {alert.number}</a>'
    named = (f"app:{stream.app}", f"environment:{stream.environment}")
    return {
        "time": _count_milliseconds(alert.since),
        "timeEnd": _count_milliseconds(end),
        "text": text,
        "tags": ["ragsonde", "regression", tag, *(one[:LONGEST_TAG] for one in named)],
    }


def _count_milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
