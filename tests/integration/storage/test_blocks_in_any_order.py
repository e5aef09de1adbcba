"""Blocks hold what their traces scored, in whatever order and however often it came to that."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.clock import NOON
from fakes.evaluations import FREE, PAID, make_trace, plan_free, plan_paid
from ragsonde.storage.reopening import reopen_evaluation
from ragsonde_schemas.evaluation import EvaluationState
from services.block_ground import BlockGround, Outcome, count_by_hand, minutes
from services.postgres import empty_tables

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.evaluation import EvaluationKey

pytestmark = pytest.mark.integration

RECORDS = st.integers(0, 3)
DELIVERIES = st.builds(
    dict,
    kind=st.just("deliver"),
    record=RECORDS,
    answer=st.integers(0, 4),
    days_late=st.sampled_from([0, 0, 3]),
    minute=st.integers(0, 14),
)
DEEDS = st.lists(
    st.one_of(
        DELIVERIES,
        DELIVERIES,
        DELIVERIES,
        st.builds(
            dict,
            kind=st.sampled_from(["withdraw", "rescore", "finish", "fail", "reopen"]),
            record=RECORDS,
            days_late=st.sampled_from([0, 3]),
        ),
        st.builds(dict, kind=st.just("forget"), record=RECORDS),
        st.builds(dict, kind=st.just("count"), minutes=st.integers(0, 25)),
        st.builds(dict, kind=st.just("restart")),
    ),
    max_size=14,
)


@dataclass
class Revision:
    occurred_at: datetime
    key: EvaluationKey | None = None
    scores: dict[tuple[str, str, str], float | None] = field(default_factory=dict)
    paid: str = "waiting"
    stratum: str = "head:other truncated"


@dataclass
class Record:
    """What a record should be: only its newest revision counts, none once it is withdrawn."""

    answers: list[int] = field(default_factory=list)
    newest: Revision | None = None
    admission: object = None


class Expected:
    """Does the same deeds on plain values."""

    def __init__(self) -> None:
        self.records: dict[tuple[int, int], Record] = {}
        self.forgotten: set[int] = set()

    def list_outcomes(self) -> list[Outcome]:
        return [
            Outcome(
                *key,
                "shop",
                "",
                record.newest.occurred_at,
                raw,
                "all" if key[2] == PAID and record.newest.paid == "failed" else record.newest.stratum,
            )
            for record in self.records.values()
            if record.newest is not None
            for key, raw in record.newest.scores.items()
        ]


class Trial:
    """Deeds on the real thing and beside it on plain values."""

    def __init__(self, engine) -> None:
        self.ground = BlockGround(engine)
        self.expected = Expected()

    def do(self, deed) -> None:
        getattr(self, deed["kind"])(**{name: value for name, value in deed.items() if name != "kind"})

    def deliver(self, *, record, answer, days_late, minute) -> None:
        occurred_at = NOON - timedelta(days=days_late) + minutes(minute)
        raw = answer / 7
        trace = make_trace(f"t-{record}", answer=f"{record} {answer}", occurred_at=occurred_at)
        admission = self.ground.stores.traces.admit(trace, (plan_free(raw), plan_paid()))
        if record in self.expected.forgotten:
            assert admission.kind == "forgotten"
            return
        known = self.expected.records.setdefault((record, days_late), Record())
        if answer in known.answers or len(known.answers) == 3:
            assert not admission.is_stored
            return
        known.answers.append(answer)
        (key,) = admission.pending
        scores = {
            ("context_precision", "1:answer", FREE): raw,
            ("statement_relevancy", "1", FREE): None,
        }
        known.newest = Revision(occurred_at, key, scores)
        known.admission = admission

    def withdraw(self, *, record, days_late) -> None:
        if known := self._find(record, days_late):
            self.ground.stores.traces.withdraw(known.admission.key)
            known.newest = None

    def rescore(self, *, record, days_late) -> None:
        if known := self._find(record, days_late):
            self.ground.rescore(known.admission, raw=0.55)
            # without an assessment of its own its stream is the judge's, and so is its stratum
            known.newest.scores["context_precision", "2:answer", FREE] = 0.55

    def finish(self, *, record, days_late) -> None:
        if (known := self._find(record, days_late)) and known.newest.paid == "waiting":
            self.ground.clock.advance(200)
            self.ground.finish(known.newest.key, raw=0.25)
            known.newest.paid = "scored"
            known.newest.scores["context_precision", "1:answer", PAID] = 0.25
            known.newest.scores["statement_relevancy", "1", PAID] = None

    def fail(self, *, record, days_late) -> None:
        if (known := self._find(record, days_late)) and known.newest.paid == "waiting":
            self.ground.clock.advance(200)
            self.ground.finish(known.newest.key, state=EvaluationState.FAILED)
            known.newest.paid = "failed"
            known.newest.scores["context_precision", "1:answer", PAID] = None
            known.newest.scores["statement_relevancy", "1", PAID] = None

    def reopen(self, *, record, days_late) -> None:
        if (known := self._find(record, days_late)) and known.newest.paid == "failed":
            reopen_evaluation(self.ground.engine, known.newest.key, now=self.ground.clock.now())
            known.newest.paid = "waiting"
            for key in [key for key in known.newest.scores if key[2] == PAID]:
                del known.newest.scores[key]

    def forget(self, *, record) -> None:
        self.ground.forget(f"t-{record}")
        self.expected.forgotten.add(record)
        for days_late in (0, 3):
            self.expected.records.pop((record, days_late), None)

    def count(self, *, minutes) -> None:
        self.ground.count(minutes=minutes)

    def restart(self) -> None:
        self.ground.restart()

    def _find(self, record, days_late) -> Record | None:
        known = self.expected.records.get((record, days_late))
        return known if known is not None and known.newest is not None else None


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(deeds=DEEDS)
def test_after_any_deeds_the_blocks_are_those_counted_by_hand(engine, deeds):
    empty_tables(engine)
    trial = Trial(engine)
    trial.ground.begin()
    for deed in deeds:
        trial.do(deed)
    trial.ground.count(minutes=40)
    expected = count_by_hand(trial.expected.list_outcomes())
    assert trial.ground.read() == expected
    trial.ground.restart()
    trial.ground.count(minutes=5)
    assert trial.ground.read() == expected
