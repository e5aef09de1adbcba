"""RabbitMQ is short of disk or memory: publishers are told at once, consumers go on, nothing is lost."""

from __future__ import annotations

import json
import time
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from builders.rag_spans import make_rag_spans
from builders.spans import write_export
from ragsonde.cli.failures import ExitCode
from services.load import make_traces
from services.rabbitmq_node import find_free_ports
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

BACKLOG = 60
GATHERED = "0" * 31 + "1"
SOON_SECONDS = 5.0
"""What a client of the receiver waits for at least; an OpenTelemetry exporter gives up after 10 s."""


def post(receiver, trace):
    """Status, Retry-After and the seconds that the answer took."""
    where = urlsplit(receiver.url)
    begun = time.monotonic()
    with closing(HTTPConnection(where.hostname, where.port, timeout=60)) as connection:
        connection.request("POST", "/traces", body=json.dumps(trace))
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers.get("Retry-After"), time.monotonic() - begun


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_an_alarm_of_the_broker_is_told_to_who_publishes_and_holds_up_nobody_who_consumes(
    ground, tmp_path, kind
):
    deployment = ground.deployment
    deployment.settings["RAGSONDE_ASSEMBLY__QUIET_SECONDS"] = "1"
    receiver = deployment.start("receiver", "--port", str(find_free_ports(1)[0]))
    first, refused, *others = make_traces(range(BACKLOG + 2))
    assert post(receiver, first)[0] == 202
    deployment.publish(others)
    with deployment.publisher() as publisher:
        for span in make_rag_spans(trace_id=GATHERED):
            publisher.publish_trace(write_export(span), content_type=None)
    monitor = deployment.start("monitor")
    wait_for(monitor.is_on_broker, what="a monitor")
    with getattr(ground.node, f"{kind}_alarm")():
        for _ in range(3):
            status, retry_after, seconds = post(receiver, refused)
            assert (status, retry_after is not None) == (503, True)
            assert seconds < SOON_SECONDS
        lines = tmp_path / "refused.jsonl"
        lines.write_text(json.dumps(refused))
        published = deployment.run("publish", str(lines))
        assert published.returncode == ExitCode.UNAVAILABLE
        assert "short of" in published.stderr
        ground.start_worker()
        ground.wait_until_scored(BACKLOG + 1)
        # the gathered trace is due, and the monitor may not say so
        wait_for(lambda: "short of" in monitor.read_log(), what="the refusal in the monitor's log")
    assert '"status": "ok"' in monitor.read("/health/live")
    wait_for(lambda: post(receiver, refused)[0] == 202, what="a broker that takes traces again")
    ground.wait_until_scored(BACKLOG + 3)
    ground.report.survive(f"{kind} alarm of RabbitMQ")
    ground.count_up(traces=BACKLOG + 3, judges=("lexical",))
