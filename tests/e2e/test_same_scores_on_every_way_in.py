import json
from pathlib import Path

import amqp
import pytest
from sqlalchemy import make_url

from services.waiting import wait_for

pytestmark = pytest.mark.e2e

SAMPLES = Path(__file__).parents[1] / "data" / "samples"

SCORES = """
SELECT score.scorer, score.version, score.raw, score.value, score.reason FROM score
JOIN trace USING (app, trace_id, record_key, revision, day) ORDER BY scorer
"""


def as_native(expected):
    """The sample's trace as a plain JSON message."""
    return {
        "trace_id": "plain-json",
        "query": expected["query"],
        "answer": expected["answer"],
        "contexts": [
            {"content": context["content"], "id": context["id"], "score": context["score"]}
            for context in expected["contexts"]
        ],
    }


def publish_plainly(broker_url, body):
    """What a producer without Celery or kombu does."""
    url = make_url(broker_url)
    with amqp.Connection(
        f"{url.host}:{url.port}", userid=url.username, password=url.password, virtual_host=url.database
    ) as connection:
        connection.channel().basic_publish(amqp.Message(body), exchange="ragsonde", routing_key="shop.traces")


def take_scores(deployment):
    """The five scores of the one trace, which is then removed with its spans."""
    scores = wait_for(
        lambda: rows if len(rows := deployment.query(SCORES)) == 5 else None, what="five scores"
    )
    for table in ("score", "assessment", "evaluation", "trace_text", "trace", "span_buffer", "open_record"):
        deployment.query(f"DELETE FROM {table} RETURNING 1")  # noqa: S608 - names of ours
    return scores


def test_the_same_trace_has_the_same_scores_as_plain_json_as_otlp_and_by_publish(
    rabbitmq_deployment, embedded_deployment
):
    expected = json.loads((SAMPLES / "langchain_openinference.otlp.json.expected.json").read_text())
    with rabbitmq_deployment.publisher():
        pass  # declares the queues
    rabbitmq_deployment.start("worker", "--threads", "2")
    publish_plainly(rabbitmq_deployment.broker_url, json.dumps(as_native(expected)).encode())
    plain = take_scores(rabbitmq_deployment)
    publish_plainly(
        rabbitmq_deployment.broker_url, (SAMPLES / "langchain_openinference.otlp.pb").read_bytes()
    )
    otlp = take_scores(rabbitmq_deployment)
    embedded_deployment.start("worker", "--threads", "2")
    published = embedded_deployment.run("publish", str(SAMPLES / "langchain_openinference.otlp.json"))
    assert published.returncode == 0, published.stderr
    by_publish = take_scores(embedded_deployment)
    assert plain == otlp == by_publish
    assert all(0 <= raw <= 1 for _, _, raw, _, _ in plain)
