"""Late spans on a real Postgres: what counts, what is said of what does not, spans that nobody can read."""

from __future__ import annotations

import pytest
from sqlalchemy import select, text

from builders.envelopes import wrap
from builders.rag_spans import RAG_SPANS, make_generation, make_rag_spans, make_retriever, make_root
from builders.spans import TRACE_ID, make_span, write_export
from fakes.clock import FakeClock
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from ragsonde.cli.story import tell_history
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.storage.due_records import DueRecords
from ragsonde.storage.history import read_history
from ragsonde.storage.parking_store import PostgresParkingStore
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.sweeping import count_open
from ragsonde.storage.tables import CURRENT_SCORE
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.open_record import LateEffect

pytestmark = pytest.mark.integration

QUIET = 5


class Worker:
    """A worker and a sweeper on one database and one clock."""

    def __init__(self, engine):
        self.engine = engine
        self.clock = FakeClock()
        self.faults = []
        self.stages = make_stages(
            FakeJudge("lexical"),
            clock=self.clock,
            traces=PostgresTraceStore(engine, clock=self.clock),
            spans=PostgresSpanBuffer(engine, clock=self.clock),
            parking=PostgresParkingStore(engine, clock=self.clock),
            on_fault=lambda error, trace_id: self.faults.append((type(error), trace_id)),
        )

    def bring(self, *spans, rest=0):
        ingest(wrap(write_export(*spans)), self.stages)
        self.sweep(rest)

    def sweep(self, seconds=0):
        self.clock.advance(seconds)
        for key in DueRecords().take(self.engine, now=self.clock.now(), limit=99, queued_for_seconds=150):
            close_record(key, self.stages)

    def list_current(self):
        """Record keys and revisions with scores that count."""
        with self.engine.connect() as connection:
            columns = CURRENT_SCORE.c
            rows = connection.execute(select(columns.record_key, columns.revision).distinct())
            return sorted(tuple(row) for row in rows)

    def execute(self, statement):
        with self.engine.begin() as connection:
            connection.execute(text(statement))

    def list_parked(self, trace_id=TRACE_ID):
        return [message.reason for message in read_history(self.engine, trace_id).parked]


@pytest.fixture
def worker(engine):
    return Worker(engine)


def test_after_the_last_revision_why_says_how_many_spans_are_not_in_it(worker):
    worker.bring(*RAG_SPANS)
    for number in range(2):
        worker.bring(make_root(answer=f"Answer {number}.", end=200 + number), rest=QUIET)
    for number in (5, 6):
        worker.bring(make_retriever(number, contexts=(f"Returns take {number} days.",), start=2), rest=QUIET)
    history = read_history(worker.engine, TRACE_ID)
    (said,) = [line.text for line in tell_history(history) if "late spans" in line.text]
    assert said.endswith("spans came after the last revision that is kept: 2 late spans are not in it")
    assert [len(one.trace.extraction.warnings) for one in history.revisions] == [0, 0, 1]
    told = [effect for (effect,) in worker.stages.sink.of("on_late_spans")]
    assert told == [LateEffect.REVISION] * 2 + [LateEffect.OVER_LIMIT] * 2


def test_an_earlier_turn_that_comes_later_takes_no_key_away(worker):
    worker.bring(*make_rag_spans(start=50))
    worker.bring(
        make_root(11, answer="Yes.", start=0, end=9),
        make_retriever(12, 11, start=1),
        make_generation(13, 11, answer="Yes.", start=2),
        rest=QUIET,
    )
    assert worker.list_current() == [("", 1), (f"{11:016x}", 1)]
    worker.bring(make_root(11, answer="No.", start=0, end=30), rest=QUIET)
    assert worker.list_current() == [("", 1), (f"{11:016x}", 2)]


def test_of_a_turn_that_turns_out_to_be_a_part_no_score_counts(worker):
    streamed = make_generation(3, 2, start=50)
    worker.bring(make_root(1, start=0, end=5), make_retriever(4, 1), streamed, rest=QUIET)
    worker.bring(make_span(9, 1, start=1), rest=QUIET)
    keys = {revision.key.record_key for revision in read_history(worker.engine, TRACE_ID).revisions}
    assert keys == {"", streamed.span_id}
    worker.bring(make_span(2, 1, start=4, end=90), rest=QUIET)
    assert {key for key, _ in worker.list_current()} == {""}
    assert len(worker.stages.sink.of("on_withdrawn")) == 1


def test_stored_spans_that_nobody_can_read_are_parked_and_the_next_trace_is_scored(worker):
    other_id = f"{7:032x}"
    worker.bring(make_root(), make_generation())
    worker.execute("UPDATE span_buffer SET payload = '[1]'")
    worker.bring(make_root()._replace(trace_id=other_id))
    worker.sweep(QUIET)
    assert worker.list_parked() == [ParkReason.INTERNAL_ERROR]
    assert len(read_history(worker.engine, other_id).revisions) == 1
    for _ in range(4):
        worker.sweep(151)
    assert worker.list_parked() == [ParkReason.INTERNAL_ERROR]
    assert count_open(worker.engine) == 0


def test_a_span_that_postgres_refuses_keeps_out_its_own_trace_only(worker, monkeypatch):
    real = worker.stages.spans.absorb

    def absorb(spans, **options):
        nul = [one._replace(span_id="\x00") if one.trace_id == TRACE_ID else one for one in spans]
        return real(nul, **options)

    monkeypatch.setattr(worker.stages.spans, "absorb", absorb)
    other_id = f"{7:032x}"
    worker.bring(*RAG_SPANS, *make_rag_spans(trace_id=other_id))
    assert len(read_history(worker.engine, other_id).revisions) == 1
    assert [trace_id for _, trace_id in worker.faults] == [TRACE_ID]
    with worker.engine.connect() as connection:
        (parked,) = connection.execute(text("SELECT reason, message FROM parked_message")).all()
    assert (parked.reason, TRACE_ID in parked.message) == (ParkReason.INTERNAL_ERROR, True)
