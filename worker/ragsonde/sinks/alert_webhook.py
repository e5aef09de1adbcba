"""Notices of alerts as JSON, posted one by one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ragsonde.sinks.posting import Poster

if TYPE_CHECKING:
    from ragsonde_schemas.alert_notice import AlertNotice
    from ragsonde_schemas.http_place import HttpPlace


class AlertWebhook:
    """Posts each notice as an object; any 2xx means that it was taken.

    Args:
        place: where.

    Raises:
        ConfigError: a file that it names cannot be read.
    """

    def __init__(self, place: HttpPlace) -> None:
        self._poster = Poster(place, content_type="application/json")

    def send(self, notice: AlertNotice) -> None:
        """Posts it.

        Raises:
            DeliveryError: it was not taken.
        """
        body = json.dumps(notice.model_dump(mode="json"), ensure_ascii=False)
        self._poster.post(body.encode("utf-8", errors="replace"))
