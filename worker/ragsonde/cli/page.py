"""Opens the page of the monitor with what the settings say of its readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.page.application import PageApplication
from ragsonde.page.authentication import Authentication
from ragsonde.page.kept_watching import KeptWatching
from ragsonde.page.options import PageAuth
from ragsonde.page.reading_room import ReadingRoom
from ragsonde.page.server import PageServer
from ragsonde.page.views import Views
from ragsonde.scoring.formula import Direction
from ragsonde.settings.secrets import TOKEN_CHARACTERS, build_token_reader
from ragsonde.storage.reading_time import bound_reads, reading_within
from ragsonde.storage.watching import PostgresWatching
from ragsonde.web.host_names import HostNames

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.exposition.http import Route
    from ragsonde.page.standing import ReadSeries
    from ragsonde.ports import Clock
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.settings import Settings


def open_page(
    settings: Settings,
    *,
    engine: Engine,
    clock: Clock,
    scorers: Sequence[Scorer],
    routes: Mapping[str, Route],
    read_series: ReadSeries,
) -> PageServer:
    """The page, being served.

    Args:
        settings: as read.
        engine: of this process.
        clock: whose day it is.
        scorers: the configured ones.
        routes: of the series and the probes.
        read_series: the monitor's own values, by label values, of a series without its prefix.

    Raises:
        ConfigError: a token's file cannot be read.
        SetupError: no port is free.
    """
    reading = PostgresWatching(
        bound_reads(engine),
        clock=clock,
        limits={one.name: one.budget.limits for one in settings.judges if one.budget is not None},
        comparable=[scorer.instance for scorer in scorers if scorer.direction is Direction.HIGHER],
        page_days=settings.regression.page_days,
    )
    watching = KeptWatching(reading, clock=clock)
    server = PageServer(
        PageApplication(
            authentication=Authentication(
                options=settings.page,
                read_token=build_token_reader(settings.page, key="page", fewest=TOKEN_CHARACTERS),
            ),
            views=Views(
                watching=watching,
                scorers={scorer.instance: scorer for scorer in scorers},
                trace_link=settings.links.trace,
                runbook_link=settings.links.runbook,
                read_series=read_series,
                can_log_out=settings.page.auth is PageAuth.TOKEN,
                shows_series=not settings.metrics.asks_for_token,
            ),
            machine_routes=routes,
            read_metrics_token=build_token_reader(settings.metrics, key="metrics", fewest=TOKEN_CHARACTERS),
            hosts=HostNames(bound=settings.host, names=settings.host_names),
            room=ReadingRoom(limit=reading_within),
        ),
        host=settings.host,
        port=settings.ports.monitor,
        on_close=watching.close,
    )
    watching.start()
    return server
