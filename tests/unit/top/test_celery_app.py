"""Every setting that must be set, value for value, written out from the documented list."""

import inspect
import re
from typing import NamedTuple

import pytest
from celery import Celery

from ragsonde import celery_app
from ragsonde.celery_app import build_celery_app
from ragsonde.intake.trace_consumer import TraceConsumer

RABBITMQ = "amqp://guest:guest@127.0.0.1:5672//"
VALKEY = "redis+socket:///somewhere/valkey.sock"


class Options(NamedTuple):
    """The settings that are read."""

    threads: int = 12
    queues: tuple[str, ...] = ("ragsonde.traces",)
    prefetch_multiplier: int = 2
    max_body_bytes: int = 4096
    judges: tuple = ()


BOTH = {
    "worker_consumer": "ragsonde.intake.trace_consumer:TraceConsumer",
    "worker_pool": "threads",
    "worker_concurrency": 12,
    "worker_prefetch_multiplier": 2,
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "task_acks_on_failure_or_timeout": False,
    "task_ignore_result": True,
    "result_backend": None,
    "task_create_missing_queues": False,
    "accept_content": ["json"],
    "task_serializer": "json",
    "worker_enable_prefetch_count_reduction": False,
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    "worker_detect_quorum_queues": True,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "task_send_sent_event": False,
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
    "ragsonde_max_body_bytes": 4096,
    "ragsonde_backfill_places": 3,
}
ONE = {
    RABBITMQ: {"broker_heartbeat": 30, "broker_transport_options": {"confirm_publish": True}},
    VALKEY: {
        "broker_heartbeat": 0,
        "broker_transport_options": {
            "visibility_timeout": 600,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
        },
    },
}


def build(broker_url, **options):
    return build_celery_app(Options(**options), broker_url=broker_url)


@pytest.mark.parametrize("broker_url", [RABBITMQ, VALKEY])
def test_every_setting_has_its_documented_value(broker_url):
    conf = build(broker_url).conf
    expected = {**BOTH, **ONE[broker_url]}
    assert {name: conf[name] for name in expected} == expected


@pytest.mark.parametrize("broker_url", [RABBITMQ, VALKEY])
def test_no_other_setting_differs_from_celerys_own(broker_url):
    conf, plain = build(broker_url).conf, Celery("plain", set_as_current=False).conf
    differing = {name for name in conf if not name.isupper() and conf[name] != plain.get(name)}
    assert differing <= {"broker_url", "task_queues", "deprecated_settings", *BOTH, *ONE[broker_url]}


def test_each_broker_is_reached_by_its_transport():
    assert build(RABBITMQ).connection_for_read().transport.driver_type == "amqp"
    assert build(VALKEY).connection_for_read().transport.driver_type == "redis"


@pytest.mark.parametrize(
    ("broker_url", "queues", "consumed"),
    [
        (RABBITMQ, ("ragsonde.traces",), {"ragsonde.traces", "ragsonde.work", "ragsonde.traces.dead"}),
        (RABBITMQ, ("otlp_spans",), {"otlp_spans", "ragsonde.work", "ragsonde.traces.dead"}),
        (VALKEY, ("ragsonde.traces",), {"ragsonde.traces", "ragsonde.work"}),
    ],
)
def test_what_is_consumed(broker_url, queues, consumed):
    assert {queue.name for queue in build(broker_url, queues=queues).conf.task_queues} == consumed


def test_only_foreign_queues_are_never_declared():
    queues = build(RABBITMQ, queues=("ragsonde.traces", "otlp_spans")).conf.task_queues
    assert [queue.name for queue in queues if queue.no_declare] == ["otlp_spans"]


def test_every_setting_has_its_reason_in_a_comment_above_it_or_above_its_neighbour():
    """A run of settings without a blank or comment between them shares the comment above its first."""
    source = inspect.getsource(celery_app)
    blocks = re.findall(r"return \{\n(.*?)\n    \}", source, re.DOTALL)
    assert len(blocks) == 4
    named = {"worker_consumer", "broker_transport_options"}  # each speaks for itself
    for block in blocks:
        has_reason = False
        for line in block.splitlines():
            if line.lstrip().startswith("#"):
                has_reason = True
            name = re.match(r' +"(\w+)":', line)
            if name and name[1] not in named:
                assert has_reason, name[1]


def test_of_celerys_steps_only_those_that_we_need_are_taken():
    steps = {step.partition(":")[2] for step in TraceConsumer.Blueprint.default_steps}
    # Tasks requires Mingle, and Mingle requires Events
    assert steps == {"Connection", "Mingle", "Events", "Tasks", "Evloop"}
