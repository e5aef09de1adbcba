"""The paths every process answers: its series and its health."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING

from ragsonde.exposition.http import Response

if TYPE_CHECKING:
    from ragsonde.exposition.health import Health
    from ragsonde.exposition.http import Route
    from ragsonde.exposition.registry import Series

METRICS = "/metrics"
LIVE = "/health/live"
READY = "/health/ready"


def build_routes(series: Series, *, live: Health, ready: Health) -> dict[str, Route]:
    """`/metrics`, `/health/live` and `/health/ready`.

    Args:
        series: what is scraped.
        live: whether the process should go on; a supervisor restarts it where not.
        ready: whether it can work now: broker and database. No judge is among them.
    """

    def show_series(accept: str) -> Response:
        page = series.render(accept)
        return Response(HTTPStatus.OK, page.content_type, page.body)

    return {
        METRICS: show_series,
        LIVE: lambda _accept: _report(live),
        READY: lambda _accept: _report(ready),
    }


def _report(health: Health) -> Response:
    problems = health.find_problems()
    status = HTTPStatus.SERVICE_UNAVAILABLE if problems else HTTPStatus.OK
    report = {
        "status": "failing" if problems else "ok",
        "parts": {part: problems.get(part, "ok") for part in health.parts},
    }
    return Response(status, "application/json", json.dumps(report, ensure_ascii=False).encode() + b"\n")
