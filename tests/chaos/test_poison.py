"""One message that kills whoever works on it: it alone is parked, the others of its time are scored once."""

from __future__ import annotations

import json
import os
from http.client import HTTPException
from pathlib import Path

import pytest

from builders.rag_messages import make_messages
from builders.rag_spans import make_generation, make_retriever, make_root
from builders.spans import write_export
from services.leases import end_leases, find_last_lease
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

PACKAGE = Path(__file__).parents[1] / "data" / "deadly_rag"
DEADLY = "kill this process"
TRACES, POISONED, THREADS = 200, 77, 16
ENDED = "SELECT count(*) FROM evaluation WHERE state IN ('scored', 'failed')"
SCORED = "SELECT trace_id, count(*) FROM score WHERE status = 'scored' GROUP BY 1"
PARKED = "SELECT reason, queue, encode(body, 'escape') FROM parked_message"


@pytest.fixture
def deadly(deployment):
    """A deployment whose judge, free or not, is one that can die."""

    def use_judge(*, is_free):
        path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
        judge = {"name": "deadly", "kind": "deadly", "options": {"is_free": is_free}}
        deployment.settings["PYTHONPATH"] = path
        deployment.settings["RAGSONDE_JUDGES"] = json.dumps([judge])
        deployment.settings["RAGSONDE_ASSEMBLY__QUIET_SECONDS"] = "1"
        return deployment

    return use_judge


def make_with_poison():
    messages = make_messages(TRACES)
    messages[POISONED]["query"] += f" Now {DEADLY}."
    return messages


def make_poisoned_spans():
    """Each trace in three messages, so that it is closed by the work queue."""
    for number in range(TRACES):
        root = make_root(answer=f"Within {number} days.")
        if number == POISONED:
            root = root._replace(attributes={**root.attributes, "input.value": DEADLY})
        for span in (root, make_retriever(), make_generation()):
            yield write_export(span._replace(trace_id=f"{number + 1:032x}"))


class Watch:
    """Starts workers one after the other, each when the one before is dead.

    What a dead one held is free again when its lease is over: here as soon as all is done with that the
    broker had given back.

    Attributes:
        deaths: of workers, so far.
    """

    def __init__(self, deployment, publisher):
        self.deaths = 0
        self._deployment, self._publisher = deployment, publisher
        self._held_until = None
        self.worker = self._start()

    def is_idle(self):
        """True when a worker lives and there is nothing for it to do, also after the next lease is over."""
        if self.worker.process.poll() is not None:
            assert self.worker.process.returncode == -9, self.worker.read_log()
            self.deaths += 1
            self._held_until = find_last_lease(self._deployment)
            self.worker = self._start()
        elif self._is_drained() and self._is_drained():
            if self._held_until is None:
                return True
            end_leases(self._deployment, last=self._held_until)
            self._held_until = None
        return False

    def _start(self):
        return self._deployment.start("worker", "--threads", str(THREADS))

    def _is_drained(self):
        if any(self._publisher.count_messages().values()):
            return False
        try:
            return self.worker.is_on_broker() and "\nragsonde_in_flight 0.0\n" in self.worker.read("/metrics")
        except (OSError, HTTPException):  # it dies in this moment
            return False


def restart_until_done(deployment, *, ended):
    """How many workers died before one lived until so many were judged and the poisoned one was parked."""
    with deployment.publisher() as publisher:
        watch = Watch(deployment, publisher)
        wait_for(
            lambda: watch.is_idle() and deployment.query(PARKED) and deployment.count(ENDED) == ended,
            seconds=90,
            what="a worker that lives",
        )
        assert watch.worker.terminate() == 0
    return watch.deaths


def assert_one_is_parked(deployment, *, queue, trace_ids):
    """The poisoned one, and nothing else; all others have five scores each."""
    ((reason, its_queue, body),) = deployment.query(PARKED)
    assert (reason, its_queue) == ("repeated_crash", queue)
    assert trace_ids[POISONED] in body
    assert dict(deployment.query(SCORED)) == {
        trace_id: 5 for number, trace_id in enumerate(trace_ids) if number != POISONED
    }
    assert deployment.count("SELECT count(*) FROM suspect") == 0
    with deployment.publisher() as publisher:
        assert set(publisher.count_messages().values()) == {0}


def test_one_that_kills_before_it_is_stored_is_parked_alone(deadly, chaos_report):
    chaos_report.count_bad_inputs(1)
    deployment = deadly(is_free=True)
    messages = make_with_poison()
    deployment.publish(messages)

    assert restart_until_done(deployment, ended=TRACES - 1) == 2
    assert_one_is_parked(
        deployment, queue="ragsonde.traces", trace_ids=[message["trace_id"] for message in messages]
    )
    assert deployment.count("SELECT count(*) FROM trace") == TRACES - 1


def test_one_whose_evaluation_kills_is_failed_and_parked_alone(deadly, chaos_report):
    chaos_report.count_bad_inputs(1)
    deployment = deadly(is_free=False)
    messages = make_with_poison()
    deployment.start("monitor")
    deployment.publish(messages)

    assert restart_until_done(deployment, ended=TRACES) == 2
    assert_one_is_parked(
        deployment, queue="ragsonde.work", trace_ids=[message["trace_id"] for message in messages]
    )
    assert deployment.query("SELECT trace_id, cause FROM evaluation WHERE state = 'failed'") == [
        (messages[POISONED]["trace_id"], "repeated_crash")
    ]


def test_one_that_kills_while_its_spans_are_closed_is_parked_alone(deadly, chaos_report):
    chaos_report.count_bad_inputs(1)
    deployment = deadly(is_free=True)
    deployment.start("monitor")
    with deployment.publisher() as publisher:
        for body in make_poisoned_spans():
            publisher.publish_trace(body, content_type=None)

    assert restart_until_done(deployment, ended=TRACES - 1) == 3
    trace_ids = [f"{number + 1:032x}" for number in range(TRACES)]
    assert_one_is_parked(deployment, queue="ragsonde.work", trace_ids=trace_ids)
