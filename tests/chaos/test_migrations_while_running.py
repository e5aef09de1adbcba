"""The schema is migrated under a worker that works: traffic goes on, and the migration gives way to it."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING

import psycopg
import pytest

from builders.rag_messages import make_messages
from ragsonde.storage import migrations, schema_state
from services.plain_amqp import open_channel, publish
from services.waiting import wait_for

if TYPE_CHECKING:
    from concurrent.futures import Future

pytestmark = pytest.mark.chaos

EXPAND = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9001", "{head}", None, None


def upgrade():
    op.add_column("trace", sa.Column("tier", sa.Text))
    op.add_column("evaluation", sa.Column("tries", sa.Integer, nullable=False, server_default="0"))
    op.create_table("later", sa.Column("id", sa.Integer, primary_key=True))
"""
EXPAND_MORE = """
from alembic import op

revision, down_revision, branch_labels, depends_on = "9002", "9001", None, None


def upgrade():
    op.create_index("ix_trace_text_query", "trace_text", ["trace_id", "day"])
    op.execute("ALTER TABLE score ADD CONSTRAINT few CHECK (raw <= 1000) NOT VALID")
"""
LONGEST_PAUSE = timedelta(seconds=2 + 3)
"""What a migration may wait for its lock, and what a machine adds that is busy with other tests."""
PAUSES = """
SELECT max(pause) FROM (
    SELECT admitted_at - lag(admitted_at) OVER (ORDER BY admitted_at) AS pause FROM trace) pauses
"""
SCORED_ONCE = "SELECT count(DISTINCT trace_id), count(*) FROM evaluation WHERE state = 'scored'"


@pytest.fixture
def later_version(tmp_path, monkeypatch):
    """The migrations as a later version has them, with two of its own."""
    folder = tmp_path / "migrations"
    shutil.copytree(schema_state.find_migrations(), folder)
    head = max(path.name for path in (folder / "versions").glob("*.py"))[:4]
    (folder / "versions" / "9001_expand.py").write_text(EXPAND.format(head=head))
    (folder / "versions" / "9002_expand_more.py").write_text(EXPAND_MORE)
    for module in (migrations, schema_state):
        monkeypatch.setattr(module, "find_migrations", lambda: folder)


class Traffic:
    """A message every moment, until it is told to stop; used as a context."""

    def __init__(self, deployment):
        self.published = 0
        self._broker_url = deployment.broker_url
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopping.set()
        self._thread.join()

    def _run(self):
        (message,) = make_messages(1)
        with open_channel(self._broker_url) as channel:
            for number in count():
                body = json.dumps({**message, "trace_id": f"t-{number}", "answer": f"{number} batteries."})
                publish(channel, body.encode(), content_type="application/json")
                self.published += 1
                if self._stopping.wait(0.02):
                    return


@pytest.fixture
def long_read(rabbitmq_deployment, caplog):
    """Begins to read, as a report does, until a migration gave way: no table can be altered meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        reading = threading.Event()

        def read():
            with psycopg.connect(rabbitmq_deployment.database_url) as connection:
                connection.execute("SELECT count(*) FROM evaluation")
                reading.set()
                wait_for(lambda: "migration_gave_way" in caplog.messages, what="a migration that gives way")

        def begin():
            begun.append(pool.submit(read))
            wait_for(reading.is_set, what="the long read")

        begun: list[Future[None]] = []
        yield begin
        for one in begun:
            one.result()


@pytest.mark.usefixtures("later_version")
def test_two_migrations_under_load_fail_nothing_lose_nothing_and_stop_no_insert_for_long(
    rabbitmq_deployment, long_read, caplog
):
    deployment = rabbitmq_deployment
    worker = deployment.start_ready_worker()

    def count_scored():
        return deployment.count("SELECT count(*) FROM evaluation WHERE state = 'scored'")

    with Traffic(deployment) as traffic:
        wait_for(lambda: count_scored() >= 30, what="traffic")
        long_read()
        migrations.migrate(deployment.database_url)
        so_far = count_scored()
        wait_for(lambda: count_scored() >= so_far + 30, what="traffic on the new schema")
    wait_for(lambda: count_scored() == traffic.published, what="all scored")
    assert "migration_gave_way" in caplog.messages
    assert deployment.query("SELECT version_num FROM alembic_version") == [("9002",)]
    assert deployment.count("SELECT count(*) FROM evaluation WHERE tries = 0") == traffic.published
    assert deployment.query(SCORED_ONCE) == [(traffic.published, traffic.published)]
    assert deployment.query("SELECT reason, message FROM parked_message") == []
    pause = deployment.query(PAUSES)[0][0]
    assert pause < LONGEST_PAUSE
    log = worker.read_log()
    assert "Traceback" not in log
    assert "database_lost" not in log
    assert worker.terminate() == 0

    # one of the version before that has to start again before it is replaced
    deployment.start_ready_worker()
    deployment.publish([{**make_messages(1)[0], "trace_id": "after"}])
    wait_for(lambda: count_scored() == traffic.published + 1, what="a score by a restarted worker")
