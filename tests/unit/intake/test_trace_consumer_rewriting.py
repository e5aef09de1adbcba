import pytest
from kombu.message import Message

from ragsonde.intake.topology import BACKFILL, TRACES, TRACES_DEAD, WORK
from ragsonde.intake.trace_consumer import (
    BURY,
    EVALUATE,
    INGEST,
    INGEST_FILE,
    choose_task,
    find_queue,
    rewrite_as_task,
)
from ragsonde.intake.work_message import FILE_MESSAGE

TAGS = {"ragsonde.traces": "None1", "otlp_spans": "None2", "ragsonde.traces.dead": "None3"}


def deliver(exchange, headers=None, routing_key="ragsonde.traces", **fields):
    return Message(
        body=b'{"trace_id": "t"}',
        headers=headers,
        delivery_tag=7,
        delivery_info={"exchange": exchange, "routing_key": routing_key},
        **fields,
    )


@pytest.mark.parametrize("headers", [{"task": "celery.map"}, {"task": EVALUATE}, {}, None])
def test_what_came_through_the_work_exchange_names_an_evaluation_whatever_its_headers(headers):
    assert choose_task(deliver("ragsonde.work", headers), queue="ragsonde.work") == EVALUATE


@pytest.mark.parametrize(
    ("exchange", "queue", "task"),
    [
        (WORK, BACKFILL, INGEST_FILE),
        (WORK, WORK, EVALUATE),
        ("", BACKFILL, INGEST),
        ("ragsonde", TRACES, INGEST),
    ],
)
def test_a_message_of_a_file_is_one_only_in_the_queue_of_backfills(exchange, queue, task):
    message = deliver(exchange, content_type=FILE_MESSAGE, message_id="1")
    assert choose_task(message, queue=queue) == task


@pytest.mark.parametrize(("exchange", "queue"), [("ragsonde", "ragsonde.traces"), ("", "ragsonde.work")])
def test_anything_else_is_foreign_even_when_it_lies_in_the_work_queue(exchange, queue):
    assert choose_task(deliver(exchange, {"task": EVALUATE}), queue=queue) == INGEST


def test_a_foreign_delivery_becomes_the_ingest_task_with_its_envelope_as_the_argument():
    message = deliver("ragsonde", {"task": "celery.map", "eta": "2030-01-01", "traceparent": "00-a"})
    rewrite_as_task(message, queue=TRACES, max_body_bytes=100)
    assert message.headers["task"] == INGEST
    assert "eta" not in message.headers
    (envelope,) = message.payload["args"]
    assert envelope.body == b'{"trace_id": "t"}'
    assert envelope.headers == {"traceparent": "00-a"}
    assert message.delivery_tag == 7


def test_the_task_id_is_the_same_for_every_redelivery_of_the_same_body():
    first, second = deliver("ragsonde"), deliver("", message_id="x")
    for message in (first, second):
        rewrite_as_task(message, queue=TRACES, max_body_bytes=100)
    assert first.headers["id"] == second.headers["id"]


def test_a_dead_letter_is_buried_not_worked_on():
    message = deliver("ragsonde.dead")
    rewrite_as_task(message, queue=TRACES_DEAD, max_body_bytes=100)
    assert message.headers["task"] == BURY
    assert message.payload["args"][0].queue == TRACES_DEAD


@pytest.mark.parametrize(
    ("exchange", "routing_key", "tag", "queue"),
    [
        ("ragsonde", "shop", "None1", TRACES),
        ("otel", "spans", "None2", "otlp_spans"),  # bound to an exchange of its own
        ("", "otlp_spans", "None2", "otlp_spans"),
        ("ragsonde.dead", "shop", "None3", TRACES_DEAD),
        ("", TRACES_DEAD, "None3", TRACES_DEAD),  # published straight to the queue of dead letters
        ("ragsonde.dead", "shop", "None1", TRACES),  # somebody bound our queue to it
    ],
)
def test_the_queue_is_the_one_whose_consumer_the_broker_names(exchange, routing_key, tag, queue):
    message = deliver(exchange, routing_key=routing_key)
    message.delivery_info["consumer_tag"] = tag
    assert find_queue(message, consumer_tags=TAGS) == queue


@pytest.mark.parametrize(
    ("exchange", "routing_key", "queue"),
    [
        ("ragsonde", "shop", TRACES),
        ("", "otlp_spans", "otlp_spans"),
        (None, "otlp_spans", "otlp_spans"),
        ("", None, TRACES),
    ],
)
def test_without_a_consumer_tag_a_delivery_of_the_default_exchange_names_its_queue(
    exchange, routing_key, queue
):
    assert find_queue(deliver(exchange, routing_key=routing_key), consumer_tags=TAGS) == queue


def test_a_body_that_kombu_could_not_decompress_is_data_all_the_same():
    message = deliver("ragsonde", {"compression": "application/x-gzip"})
    assert message.errors
    rewrite_as_task(message, queue=TRACES, max_body_bytes=100)
    assert message.errors == []
    assert message.payload["args"][0].body == b'{"trace_id": "t"}'
