"""What people see of a real database: an id that is not quite right, and the live table's footer."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest
from rich.console import Console

from fakes.clock import FakeClock
from fakes.evaluations import make_trace, plan_free
from ragsonde.cli.live_table import render_scores
from ragsonde.cli.main import run
from services.stores import PostgresStores

pytestmark = pytest.mark.integration
STORED = "20261130T015104-demo-0001"


@pytest.fixture
def store(own_engine):
    """Stores a trace that is scored by the free judge."""

    def put(trace):
        clock = FakeClock()
        clock.advance((datetime.now(UTC) - clock.now()).total_seconds())
        PostgresStores(clock, own_engine).traces.admit(trace, (plan_free(),))

    return put


@pytest.fixture
def _stored(store):
    store(make_trace(STORED, occurred_at=datetime.now(UTC)))


@pytest.fixture
def why(database_url, capsys):
    """Calls the command; its exit code and what it prints."""

    def call(trace_id, *options):
        with pytest.raises(SystemExit) as ended:
            run(["why", trace_id, "--database-url", database_url, *options])
        return ended.value.code, capsys.readouterr().out

    return call


@pytest.mark.usefixtures("_stored")
def test_why_names_the_stored_ids_that_contain_the_one_that_is_not(why):
    code, out = why("demo-0001")
    assert code == 1
    assert out.splitlines()[-1].strip() == f"ragsonde why {STORED}"
    code, out = why("demo-0001", "--output", "json")
    assert (code, json.loads(out)["similar_ids"]) == (1, [STORED])
    code, out = why(STORED, "--output", "json")
    assert (code, json.loads(out)["similar_ids"]) == (0, [])


@pytest.mark.usefixtures("_stored")
def test_why_names_the_app_that_has_the_trace_where_the_one_asked_for_has_not(why):
    code, out = why(STORED, "--app", "shpo")
    assert code == 1
    assert [line.rstrip() for line in out.splitlines()] == [
        f"{STORED}: app shpo has no trace of that id; it is known in another app:",
        f"  ragsonde why {STORED} --app shop",
    ]
    code, out = why(STORED, "--app", "shpo", "--output", "json")
    assert (code, json.loads(out)["other_apps"]) == (1, ["shop"])
    code, out = why(STORED, "--app", "shop", "--output", "json")
    assert (code, json.loads(out)["other_apps"]) == (0, [])


def test_traces_that_name_no_app_are_shown_and_asked_for_as_default(store, why, own_engine):
    for trace_id, app in (("none", ""), ("own", "shop")):
        store(make_trace(trace_id, app=app, occurred_at=datetime.now(UTC)))
    code, out = why("none", "--app", "default")
    assert code == 0
    assert "trace none, app default, revision 1" in out
    code, out = why("own", "--app", "default")
    assert code == 1
    assert "own: app default has no trace of that id" in out
    code, out = why("none", "--app", "shop")
    assert (code, out.splitlines()[-1].strip()) == (1, "ragsonde why none --app default")
    console = Console(file=io.StringIO(), width=160)
    console.print(render_scores(own_engine, columns=160))
    rows = [line.split()[:2] for line in console.file.getvalue().splitlines()]
    assert ["default", "lexical"] in rows


def test_why_of_no_id_at_all_is_a_mistake(capsys):
    with pytest.raises(SystemExit) as ended:
        run(["why", " "])
    assert ended.value.code == 2
    assert "TRACE_ID is empty" in capsys.readouterr().err


@pytest.mark.usefixtures("_stored")
@pytest.mark.parametrize("columns", [80, 160])
def test_the_live_table_says_where_to_read_on_with_a_real_id(own_engine, columns):
    console = Console(file=io.StringIO(), width=columns)
    console.print(render_scores(own_engine, columns=columns))
    text = " ".join(console.file.getvalue().split())
    assert "ragsonde list-scorers --explain; one trace:" in text
    assert text.endswith(f"ragsonde why {STORED}")
    assert text.count("judge lexical: 1 scored") == 1
    assert text.startswith("1 trace in the last 24 hours")
