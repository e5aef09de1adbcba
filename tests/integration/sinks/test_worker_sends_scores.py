"""A real worker sends what it commits to a webhook and a collector; one that is away disturbs nothing."""

from __future__ import annotations

import json
import re

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from fakes.http_taker import serving
from services.waiting import wait_for

pytestmark = pytest.mark.integration

TRACES = 4
SCORERS = 5


def make_messages():
    return [
        {
            "trace_id": f"{number:032x}",
            "app": "shop",
            "query": "How long does a refund take?",
            "contexts": [f"Refund {number} takes 14 days.", "Shipping is free."],
            "answer": f"Refund {number} takes 14 days.",
        }
        for number in range(1, TRACES + 1)
    ]


def read_counts(worker, name):
    found = re.findall(rf'^ragsonde_{name}\{{sink="(\w+)"\}} (\S+)$', worker.read("/metrics"), re.MULTILINE)
    return {sink: float(value) for sink, value in found}


def test_every_committed_score_arrives_and_is_counted(deployment):
    with serving() as taker:
        nobody = "http://127.0.0.1:9/"
        deployment.settings["RAGSONDE_SCORE_SINKS"] = json.dumps(
            [
                {"kind": "webhook", "url": f"{taker.url}/hook"},
                {"kind": "otlp", "url": taker.url},
                {"kind": "webhook", "name": "away", "url": nobody, "attempts": 1, "queue": 3},
            ]
        )
        worker = deployment.start_ready_worker()
        assert read_counts(worker, "score_sink_sent_total") == {"webhook": 0, "otlp": 0, "away": 0}
        deployment.publish(make_messages())
        deployment.wait_until_scored(TRACES)
        results = TRACES * SCORERS
        wait_for(
            lambda: (
                read_counts(worker, "score_sink_sent_total")
                == {"webhook": results, "otlp": results, "away": 0}
                and read_counts(worker, "score_sink_dropped_total")["away"] == results
            ),
            seconds=30,
            what="all sent",
        )
        assert worker.terminate() == 0
    posted = list(taker.posted)
    hooked = [one for each in posted if each.path == "/hook" for one in json.loads(each.body)["results"]]
    assert len({one["result_id"] for one in hooked}) == len(hooked) == results
    logged = [
        record
        for each in posted
        if each.path == "/v1/logs"
        for resource in ExportLogsServiceRequest.FromString(each.body).resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]
    assert len(logged) == results
    assert {record.trace_id.hex() for record in logged} == {one["trace_id"] for one in make_messages()}
