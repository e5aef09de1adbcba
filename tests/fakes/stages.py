"""The whole path over fakes."""

from __future__ import annotations

from fakes.budgets import FakeBudgets
from fakes.check_store import FakeCheckStore
from fakes.clock import FakeClock
from fakes.sample_rates import FixedRates
from fakes.sink import FakeSink
from fakes.span_buffer import FakeSpanBuffer
from fakes.stores import FakeParkingStore, FakeTraceStore
from fakes.user_keys import FakeUserKeys
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import DEFAULT_FORMATS
from ragsonde.extraction.mapping import Mappings
from ragsonde.intake.isolation import ThreadIsolation
from ragsonde.pipeline.assignments import Assignment
from ragsonde.pipeline.stages import Stages
from ragsonde.redaction.privacy import Privacy
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde.scoring.table import build_scorers


def make_stages(*judges, scorers=None, rates=None, clock=None, **changes) -> Stages:
    """Stages over in-memory stores, with the given judges at rate 1."""
    clock = clock or FakeClock()
    parts = {
        "scorers": build_scorers(scorers),
        "assignments": {
            judge.name: Assignment(judge=judge, scorers=build_scorers(scorers)) for judge in judges
        },
        "sample_rates": FixedRates({judge.name: 1.0 for judge in judges} | (rates or {})),
        "budgets": FakeBudgets(),
        "checks": FakeCheckStore(),
        "traces": FakeTraceStore(clock=clock),
        "spans": FakeSpanBuffer(clock=clock),
        "parking": FakeParkingStore(),
        "sink": FakeSink(),
        "clock": clock,
        "isolation": ThreadIsolation(),
        "limits": DecodingLimits(),
        "formats": DEFAULT_FORMATS,
        "mappings": Mappings(()),
        "resolver": UserCodeResolver(()),
        "privacy": Privacy(user_keys=FakeUserKeys()),
        "retention_days": 90,
        "deadline_seconds": 120.0,
        "insist": lambda action: action(),
    }
    return Stages(**(parts | changes))


def states(stages: Stages) -> dict[str, str]:
    """State by judge, of a store that holds one revision."""
    return {key.judge: stored.state.value for key, stored in stages.traces.evaluations.items()}
