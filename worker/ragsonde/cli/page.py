"""Opens the page of the monitor with what the settings say of its readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.page.application import PageApplication
from ragsonde.page.authentication import Authentication
from ragsonde.page.server import PageServer
from ragsonde.page.views import Views
from ragsonde.settings.secrets import build_token_reader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.exposition.http import Route
    from ragsonde.ports import Watching
    from ragsonde.settings import Settings


def open_page(settings: Settings, *, watching: Watching, routes: Mapping[str, Route]) -> PageServer:
    """The page, being served.

    Args:
        settings: as read.
        watching: reads what is shown.
        routes: of the series and the probes.

    Raises:
        ConfigError: a token's file cannot be read.
        SetupError: no port is free.
    """
    page, metrics = settings.page, settings.metrics
    return PageServer(
        PageApplication(
            authentication=Authentication(
                options=page,
                read_token=build_token_reader(page.token, page.token_file, key="page.token_file"),
            ),
            views=Views(watching=watching),
            machine_routes=routes,
            read_metrics_token=build_token_reader(
                metrics.token, metrics.token_file, key="metrics.token_file"
            ),
        ),
        host=settings.host,
        port=settings.ports.monitor,
    )
