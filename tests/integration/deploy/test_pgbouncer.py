"""Worker and monitor behind pgbouncer in transaction mode, as docs/scaling.md has it, where it is there."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy import make_url

from builders.rag_messages import make_messages
from ragsonde.storage.engine import LOCK_TIMEOUT_SECONDS, STATEMENT_TIMEOUT_SECONDS
from services.deployed_roles import deployed_roles
from services.deployments import Deployment
from services.rabbitmq import own_vhost, require_rabbitmq
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.deployed_roles import DeployedRoles

pytestmark = pytest.mark.integration

FIRST, SECOND = "ragsonde_worker", "ragsonde_monitor"
POOL_SIZES = {FIRST: 3, SECOND: 20}
SETTINGS = ("statement_timeout", "lock_timeout", "TimeZone")
EXPECTED = [f"{STATEMENT_TIMEOUT_SECONDS}s", f"{LOCK_TIMEOUT_SECONDS}s", "UTC"]


class Pooled:
    """Where roles log in by way of the pooler."""

    def __init__(self, roles: DeployedRoles, port: int) -> None:
        self._roles, self._port = roles, port

    def url(self, role: str) -> str:
        url = make_url(self._roles.url(role)).set(host="127.0.0.1", port=self._port)
        return url.set(database=role).render_as_string(hide_password=False)


@contextmanager
def running_pgbouncer(roles: DeployedRoles) -> Iterator[Pooled]:
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # not pytest's own folder: as root, it runs as a user who may not enter that
    with tempfile.TemporaryDirectory(prefix="ragsonde-pgbouncer-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "pgbouncer.ini").write_text(write_settings(roles, port=port, users=folder / "users.txt"))
        (folder / "users.txt").write_text(write_users(roles))
        as_user = ["-u", "nobody"] if pwd.getpwuid(os.getuid()).pw_name == "root" else []
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [program, *as_user, folder / "pgbouncer.ini"], stdout=log, stderr=subprocess.STDOUT
            )
        try:
            wait_for(lambda: listens(port, process, folder / "log"), seconds=20, what="pgbouncer")
            yield Pooled(roles, port)
        finally:
            process.terminate()
            process.wait(timeout=30)


def listens(port: int, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def write_users(roles: DeployedRoles) -> str:
    urls = {role: make_url(roles.url(role)) for role in POOL_SIZES}
    return "".join(f'"{url.username}" "{url.password}"\n' for url in urls.values())


def write_settings(roles: DeployedRoles, *, port: int, users: Path) -> str:
    where = make_url(roles.admin_url)
    place = f"host={where.host or '127.0.0.1'} port={where.port or 5432} dbname={where.database}"
    databases = "".join(f"{role} = {place} pool_size={size}\n" for role, size in POOL_SIZES.items())
    return (
        f"[databases]\n{databases}[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
        f"unix_socket_dir =\nauth_type = plain\nauth_file = {users}\npool_mode = transaction\n"
    )


@pytest.fixture(scope="module")
def roles(postgres_server):
    with deployed_roles(postgres_server) as made:
        yield made


@pytest.fixture(scope="module")
def pooled(roles):
    with running_pgbouncer(roles) as made:
        yield made


def show_settings(connection):
    return [connection.execute(f"SHOW {name}").fetchone()[0] for name in SETTINGS]


def test_a_connection_that_the_pooler_opened_has_the_timeouts_of_ours(pooled):
    """Four clients at once: what one of them sets at its start reaches one server connection alone."""
    with psycopg.connect(pooled.url(FIRST)) as first, psycopg.connect(pooled.url(FIRST)) as second:
        for connection in (first, second):
            assert show_settings(connection) == EXPECTED
        pids = [
            one.execute("SELECT pg_backend_pid()").fetchone() for one in (first, second)
        ]  # both are in a transaction
        assert pids[0] != pids[1]


def test_a_day_goes_through_it(pooled, roles, tmp_path):
    require_rabbitmq()
    with own_vhost() as broker_url:
        deployment = Deployment(
            "rabbitmq", broker_url=broker_url, database_url=roles.admin_url, folder=tmp_path
        )
        deployment.settings["RAGSONDE_JUDGES"] = json.dumps([{"name": "lexical", "kind": "lexical"}])
        try:
            processes = []
            for role, command in ((FIRST, "worker"), (FIRST, "worker"), (SECOND, "monitor")):
                deployment.settings["RAGSONDE_DATABASE_URL"] = pooled.url(role)
                processes.append(deployment.start(command))
            *workers, monitor = processes
            for worker in workers:
                wait_for(worker.is_on_broker, seconds=90, what="a worker on its broker")
            deployment.publish(make_messages(300))
            scored = "SELECT count(*) FROM evaluation WHERE state = 'scored'"
            wait_for(lambda: deployment.count(scored) == 300, seconds=120, what="300 scored traces")
            wait_for(
                lambda: monitor.read_series("monitor_job_last_success_timestamp_seconds") > 0,
                seconds=30,
                what="jobs",
            )
            assert monitor.read_series("monitor_job_failures_total") == 0, monitor.read_log()
            opened = deployment.query(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = %s",
                [roles.name(FIRST)],
            )
            assert opened[0][0] <= POOL_SIZES[FIRST]
        finally:
            deployment.stop()
