"""Results as JSON, posted in batches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ragsonde.sinks.posting import Poster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.sinks.options import ScoreSinkOptions
    from ragsonde_schemas.score_event import ScoreEvent

SCHEMA_VERSION = "1"


class Webhook:
    """Posts `{"schema_version": "1", "results": [...]}`; any 2xx means that all were taken.

    Args:
        options: of kind `webhook`.

    Raises:
        ConfigError: a file that it names cannot be read.
    """

    def __init__(self, options: ScoreSinkOptions) -> None:
        self._poster = Poster(options, content_type="application/json")

    def deliver(self, batch: Sequence[ScoreEvent]) -> int:
        """Posts the batch.

        Raises:
            DeliveryError: it was not taken.
        """
        body = {
            "schema_version": SCHEMA_VERSION,
            "results": [event.model_dump(mode="json") for event in batch],
        }
        self._poster.post(json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace"))
        return 0
