"""Opens the page of the monitor with what the settings say of its readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.page.application import PageApplication
from ragsonde.page.authentication import Authentication
from ragsonde.page.server import PageServer
from ragsonde.page.views import Views
from ragsonde.scoring.formula import Direction
from ragsonde.settings.secrets import build_token_reader
from ragsonde.storage.watching import PostgresWatching

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.exposition.http import Route
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
) -> PageServer:
    """The page, being served.

    Args:
        settings: as read.
        engine: of this process.
        clock: whose day it is.
        scorers: the configured ones.
        routes: of the series and the probes.

    Raises:
        ConfigError: a token's file cannot be read.
        SetupError: no port is free.
    """
    page, metrics = settings.page, settings.metrics
    watching = PostgresWatching(
        engine,
        clock=clock,
        limits={one.name: one.budget.limits for one in settings.judges if one.budget is not None},
        comparable=[scorer.instance for scorer in scorers if scorer.direction is Direction.HIGHER],
    )
    return PageServer(
        PageApplication(
            authentication=Authentication(
                options=page,
                read_token=build_token_reader(page.token, page.token_file, key="page.token_file"),
            ),
            views=Views(
                watching=watching,
                scorers={scorer.instance: scorer for scorer in scorers},
                trace_link=settings.links.trace,
                runbook_link=settings.links.runbook,
            ),
            machine_routes=routes,
            read_metrics_token=build_token_reader(
                metrics.token, metrics.token_file, key="metrics.token_file"
            ),
        ),
        host=settings.host,
        port=settings.ports.monitor,
    )
