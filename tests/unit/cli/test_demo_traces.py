import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import groupby
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.stores import FakeTraceStore
from ragsonde import evaluate
from ragsonde.api.traces import read_traces
from ragsonde.cli.demo_traffic import build_demo_message, describe_adding
from ragsonde.demo.corpus import read_demo_traces
from ragsonde_schemas.message import TraceMessage

PACKAGED = files("ragsonde") / "demo" / "traces.jsonl"
IN_TESTS = Path(__file__).parents[2] / "data" / "demo.jsonl"


@pytest.fixture(scope="module")
def messages():
    return [json.loads(line) for line in PACKAGED.read_text(encoding="utf-8").splitlines()]


def test_the_tests_use_what_the_package_ships():
    assert IN_TESTS.read_bytes() == PACKAGED.read_bytes()


def test_every_line_is_a_valid_message_of_the_app_demo(messages):
    parsed = [TraceMessage.model_validate(message) for message in messages]

    assert len(parsed) == 60
    assert len({message.trace_id for message in parsed}) == 60
    assert {message.app for message in parsed} == {"demo"}
    assert all(message.environment and message.release and message.variant for message in parsed)
    assert all(message.occurred_at is None for message in parsed)


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        (0, "publishing the demo's 60 traces"),
        (17, "17 are stored today already and not scored again, the others are added"),
        (60, "the demo's 60 traces are stored today already and not scored again; `ragsonde drop-demo`"),
    ],
)
def test_what_is_told_of_the_demo_is_what_will_be_done(stored, told):
    assert told in describe_adding(60, stored=stored)


def test_the_demo_is_stored_once_a_day_however_often_it_is_published():
    store = FakeTraceStore(clock=FakeClock())
    morning = (datetime.now(UTC) - timedelta(days=1)).replace(hour=6)

    def publish(now):
        bodies = [build_demo_message(trace, now=now) for trace in read_demo_traces()]
        kinds = [store.admit(trace, ()).kind for body in bodies for trace in read_traces(body)]
        assert len(kinds) == 60
        return set(kinds)

    assert publish(morning) == {"new"}
    assert publish(morning + timedelta(hours=12)) == {"duplicate"}
    assert publish(morning + timedelta(hours=24)) == {"new"}


def test_the_story_has_an_outage_of_retrieval_a_chat_and_a_trace_without_contexts(messages):
    runs = [
        (is_empty, len(list(run)))
        for is_empty, run in groupby(message["contexts"] == [] for message in messages)
    ]

    assert (True, 5) in runs
    assert sum("messages" in message for message in messages) == 1
    assert sum(message["contexts"] is None for message in messages) == 1
    assert all(len(message["contexts"]) == 5 for message in messages if message["contexts"])


def test_the_story_has_several_languages(messages):
    languages = Counter(message["tags"][0] for message in messages)

    assert set(languages) == {"en", "de", "es", "fr", "zh", "ar", "hi"}
    assert languages["en"] > 40


def test_the_variant_with_bad_retrieval_scores_clearly_lower():
    report = evaluate(IN_TESTS)
    raws = {"rewriter-a": [], "rewriter-b": []}
    for item in report.items:
        raws[item.trace.variant] += [
            outcome.raw
            for outcome in item.outcomes
            if outcome.status == "scored" and outcome.scorer == "context_precision"
        ]

    means = {variant: sum(found) / len(found) for variant, found in raws.items()}

    assert means["rewriter-a"] > 0.7
    assert means["rewriter-b"] < 0.4
