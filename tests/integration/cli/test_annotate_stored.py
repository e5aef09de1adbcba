"""`ragsonde annotate --app` over a real Postgres."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.evaluations import FREE, make_trace, plan_free
from ragsonde.cli.main import run
from ragsonde.storage.trace_choice import read_random, read_worst
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

NOW = datetime.now(UTC).replace(hour=1, minute=0, second=0, microsecond=0)
TODAY = NOW.date()


def choose_worst(engine, limit):
    found = read_worst(engine, app="shop", since=TODAY, scorer="context_precision", judge=FREE, limit=limit)
    return [trace.trace_id for trace in found]


@pytest.fixture
def stores(own_engine):
    stores = PostgresStores(FakeClock(NOW), own_engine)
    for number in range(8):
        trace = make_trace(f"t-{number}", answer=f"answer {number}", occurred_at=NOW)
        stores.traces.admit(trace, (plan_free(raw=number / 10),))
    stores.traces.admit(make_trace("theirs", app="forum", occurred_at=NOW), (plan_free(raw=0.0),))
    stores.traces.admit(make_trace("empty", contexts=(), occurred_at=NOW), ())
    stores.traces.admit(make_trace("t-0", answer="a newer one", occurred_at=NOW), (plan_free(raw=0.9),))
    return stores


@pytest.mark.usefixtures("stores")
class TestChoice:
    def test_the_worst_by_the_score_that_counts(self, own_engine):
        assert choose_worst(own_engine, 3) == ["t-1", "t-2", "t-3"]

    def test_dropped_texts_cannot_be_annotated(self, own_engine, stores):
        stores.drop_texts(make_trace("t-1"))
        assert choose_worst(own_engine, 2) == ["t-2", "t-3"]

    def test_random_ones_are_of_the_app_and_have_contexts_each_in_its_newest_revision(self, own_engine):
        found = read_random(own_engine, app="shop", since=TODAY, limit=50)
        assert sorted(trace.trace_id for trace in found) == [f"t-{number}" for number in range(8)]
        assert {trace.answer for trace in found if trace.trace_id == "t-0"} == {"a newer one"}
        assert found[:3] == read_random(own_engine, app="shop", since=TODAY, limit=3)
        assert read_random(own_engine, app="shop", since=TODAY + timedelta(days=1), limit=3) == []

    def test_the_command_asks_about_them_and_goes_on_where_it_was_left(
        self, database_url, tmp_path, monkeypatch, capsys
    ):
        out = tmp_path / "annotations.jsonl"
        options = ["--app", "shop", "--worst", "2", "--random", "2", "--scorer", "context_precision"]

        def annotate(keys):
            monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
            with pytest.raises(SystemExit) as ended:
                run(["annotate", *options, "--out", str(out), "--database-url", database_url])
            assert ended.value.code == 0
            return capsys.readouterr().out

        assert "4 of 4 traces to annotate" in annotate("yhu nln y" * 2)
        assert "2 of 4 traces to annotate" in annotate("yhu nln y" * 2)
        assert "0 of 4 traces to annotate" in annotate("")
        ids = [json.loads(line)["trace_id"] for line in Path(out).read_text().splitlines()]
        assert len(set(ids)) == 4
        assert {"t-1", "t-2"} <= set(ids)
