"""One trace in three messages, over two workers on a real Postgres: the same as if it had come whole."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path
from threading import Barrier

import pytest

from builders.envelopes import wrap
from fakes.clock import FakeClock
from fakes.stages import make_stages
from ragsonde.judging.options import JudgeKind, JudgeOptions
from ragsonde.judging.table import build_judges
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde.storage.due_records import DueRecords
from ragsonde.storage.history import read_history
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde.storage.parking_store import PostgresParkingStore
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.sweeping import count_open
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.open_record import LateEffect

pytestmark = pytest.mark.integration

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
NAMES = ("split-1of3", "split-2of3", "split-3of3-late-retriever")
PARTS = [(SAMPLES / f"langchain_openinference.{name}.otlp.json").read_bytes() for name in NAMES]
S = EvaluationState


def merge(parts):
    """All spans of the messages in one."""
    found = [group for part in parts for group in json.loads(part)["resourceSpans"]]
    return json.dumps({"resourceSpans": found}).encode()


WHOLE = merge(PARTS)
TRACE_ID = json.loads(PARTS[0])["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
FREE = JudgeOptions(name="lexical", kind=JudgeKind.LEXICAL)


class Deployment:
    """Two workers and a sweeper on one database and one clock."""

    def __init__(self, engine):
        self.engine = engine
        self.clock = FakeClock()
        self.workers = [self._make_worker() for _ in range(2)]

    def _make_worker(self):
        (judge,) = build_judges((FREE,)).values()
        return make_stages(
            judge,
            clock=self.clock,
            traces=PostgresTraceStore(self.engine, clock=self.clock),
            spans=PostgresSpanBuffer(self.engine, clock=self.clock),
            parking=PostgresParkingStore(self.engine, clock=self.clock),
        )

    def bring(self, *parts):
        """Each message to the next worker."""
        for place, part in enumerate(parts):
            ingest(wrap(part), self.workers[place % 2])

    def rest(self, seconds=5):
        """Lets time pass, then closes what is due."""
        self.clock.advance(seconds)
        keys = DueRecords().take(self.engine, now=self.clock.now(), limit=100, queued_for_seconds=150)
        for place, key in enumerate(keys):
            worker = self.workers[place % 2]
            for pending in close_record(key, worker):
                evaluate(pending, worker)

    def told(self, name):
        return [arguments for worker in self.workers for arguments in worker.sink.of(name)]

    @property
    def hashes(self):
        revisions = read_history(self.engine, TRACE_ID).revisions
        return [one.trace.content_hash for one in sorted(revisions, key=lambda one: one.revision)]

    @property
    def states(self):
        counts = count_states(self.engine, since=FakeClock().now())
        assert sum(counts.values()) == count_revisions(self.engine, since=FakeClock().now())
        return {state: number for (_, state), number in counts.items()}


@pytest.fixture
def deployment(engine):
    return Deployment(engine)


@pytest.fixture(scope="module")
def whole_hash():
    (judge,) = build_judges((FREE,)).values()
    stages = make_stages(judge)
    ingest(wrap(WHOLE), stages)
    ((trace, _, _),) = stages.sink.of("on_admitted")
    assert trace.contexts
    assert trace.answer
    return trace.content_hash


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_in_any_order_once_or_doubled_it_is_one_trace_scored_once(deployment, whole_hash, order, times):
    deployment.bring(*(PARTS[index] for index in order for _ in range(times)))
    assert deployment.hashes == []
    deployment.rest()
    deployment.rest(600)
    assert deployment.hashes == [whole_hash]
    assert deployment.states == {S.SCORED: 1}
    assert len(deployment.told("on_admitted")) == 1
    assert count_open(deployment.engine) == 0


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_doubled_again_after_it_was_closed_nothing_changes(deployment, whole_hash, order):
    deployment.bring(*PARTS)
    deployment.rest()
    deployment.bring(*(PARTS[index] for index in order))
    deployment.rest()
    assert deployment.hashes == [whole_hash]
    assert deployment.states == {S.SCORED: 1}


def test_brought_by_two_workers_at_once_it_is_one_trace(deployment, whole_hash):
    start = Barrier(6)

    def bring(place):
        start.wait(30)
        ingest(wrap(PARTS[place % 3]), deployment.workers[place % 2])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(bring, range(6)))
    deployment.rest()
    assert deployment.hashes == [whole_hash]


def test_a_whole_message_does_not_wait(deployment, whole_hash):
    deployment.bring(WHOLE)
    assert deployment.hashes == [whole_hash]
    assert count_open(deployment.engine) == 0


def test_a_retriever_twenty_seconds_late_makes_a_revision_and_the_ledger_adds_up(deployment, whole_hash):
    deployment.bring(*PARTS[:2])
    deployment.rest()
    assert len(deployment.hashes) == 1
    deployment.clock.advance(15)
    deployment.bring(PARTS[2])
    assert len(deployment.hashes) == 1
    deployment.rest()
    first, second = deployment.hashes
    assert (first != whole_hash, second) == (True, whole_hash)
    assert Counter(deployment.states) == {S.SUPERSEDED: 1, S.SCORED: 1}
    assert deployment.told("on_late_spans") == [(LateEffect.REVISION,)]


def test_a_late_span_that_says_nothing_new_is_told_and_not_scored_again(deployment, whole_hash):
    deployment.bring(*PARTS)
    deployment.rest()
    late = json.loads(PARTS[0])
    span = late["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    late["resourceSpans"][0]["scopeSpans"][0]["spans"] = [
        {**span, "spanId": "00000000000000ff", "parentSpanId": span["spanId"], "attributes": []}
    ]
    deployment.bring(json.dumps(late).encode())
    deployment.rest()
    assert deployment.hashes == [whole_hash]
    assert deployment.told("on_late_spans") == [(LateEffect.UNCHANGED,)]
    assert deployment.states == {S.SCORED: 1}
