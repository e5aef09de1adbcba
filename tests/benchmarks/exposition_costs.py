"""What a scrape costs: a worker's series as a scraper reads them, over HTTP, with exemplars."""

from __future__ import annotations

from http.client import HTTPConnection
from typing import TYPE_CHECKING

from figures import Figure, time_call

from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.health import Health
from ragsonde.exposition.http import serve
from ragsonde.exposition.negotiation import OPENMETRICS
from ragsonde.exposition.registry import Series
from ragsonde.exposition.routes import METRICS, build_routes
from ragsonde.exposition.series import CONTEXT_TOKENS, SCORE, SCORE_SQUARES, TRACES, WORKER_SERIES

if TYPE_CHECKING:
    from ragsonde.exposition.http import HttpServer

LINES = 2_000
MOST_MILLISECONDS = 150
JUDGE = "lexical@abcdef"
SCORERS = ("context_position", "context_precision:answer", "context_relevance", "essential_context", "signal")
EXEMPLAR = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}


def measure_exposition() -> list[Figure]:
    """CPU of a scrape of 2,000 lines, its client included."""
    series = build_series()
    server = serve("127.0.0.1", 0, routes=build_routes(series, live=Health({}), ready=Health({})))
    try:
        lines = len(scrape(server).splitlines())
        milliseconds = time_call(lambda: scrape(server), times=30)
    finally:
        server.close()
    return [
        Figure(
            f"/metrics, {lines:,} lines, with exemplars",
            f"{milliseconds:.0f} ms CPU ({milliseconds / 15_000:.2%} of a core, scraped every 15 s)",
            f"<= {MOST_MILLISECONDS} ms",
            milliseconds <= MOST_MILLISECONDS,
        )
    ]


def build_series() -> Series:
    """The series of a worker that has scored traces of as many releases as make 2,000 lines."""
    series = Series(WORKER_SERIES, known=KnownLabels(judges=(JUDGE,), scorers=SCORERS))
    number = 0
    while len(series.render(OPENMETRICS).body.splitlines()) < LINES:
        place = {"app": f"app{number // 3}", "environment": "production", "release": f"r{number % 3}"}
        series.add(TRACES, **place)
        for relevant in ("yes", "no"):
            series.add(CONTEXT_TOKENS, 100, judge=JUDGE, relevant=relevant, **place)
        for scorer in SCORERS:
            labels = {"scorer": scorer, "judge": JUDGE, **place}
            series.observe(SCORE, 0.5, exemplar=EXEMPLAR, **labels)
            series.add(SCORE_SQUARES, 0.25, **labels)
        number += 1
    return series


def scrape(server: HttpServer) -> bytes:
    connection = HTTPConnection(server.host, server.port)
    try:
        connection.request("GET", METRICS, headers={"Accept": OPENMETRICS})
        return connection.getresponse().read()
    finally:
        connection.close()
