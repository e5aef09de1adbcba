"""A page over real connections, with what was planted."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from fakes.watching import FakeWatching
from ragsonde.exposition.http import Response
from ragsonde.page.application import PageApplication
from ragsonde.page.authentication import Authentication
from ragsonde.page.options import PageAuth, PageOptions
from ragsonde.page.reading_room import ReadingRoom
from ragsonde.page.server import PageServer
from ragsonde.page.views import Views
from ragsonde.settings.secrets import build_token_reader
from ragsonde.web.host_names import HostNames

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@pytest.fixture
def watching():
    return FakeWatching()


@pytest.fixture
def start(watching):
    """Starts a page; settings of readers and scrapers as given."""
    servers = []

    def start(
        *,
        metrics_token: str | None = None,
        token_file: Path | None = None,
        hosts: HostNames | None = None,
        room: ReadingRoom | None = None,
        series: Mapping[str, Mapping[tuple[str, ...], float]] = MappingProxyType({}),
        **options,
    ) -> PageServer:
        settings = PageOptions.model_validate({**options, "token_file": token_file})
        application = PageApplication(
            authentication=Authentication(
                options=settings, read_token=build_token_reader(settings, key="page")
            ),
            views=Views(
                watching=watching,
                scorers={},
                can_log_out=settings.auth is PageAuth.TOKEN,
                shows_series=metrics_token is None,
                read_series=lambda name: series.get(name, {}),
            ),
            machine_routes={
                "/metrics": lambda accept: Response(200, "text/plain", f"series for {accept}".encode()),
                "/health/live": lambda _accept: Response(200, "application/json", b"{}"),
            },
            read_metrics_token=lambda: metrics_token,
            hosts=hosts or HostNames(),
            room=room or ReadingRoom(),
        )
        servers.append(PageServer(application, host="127.0.0.1", port=0))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
