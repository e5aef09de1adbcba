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
def _stored(own_engine):
    now = datetime.now(UTC)
    clock = FakeClock()
    clock.advance((now - clock.now()).total_seconds())
    PostgresStores(clock, own_engine).traces.admit(make_trace(STORED, occurred_at=now), (plan_free(),))


@pytest.mark.usefixtures("_stored")
def test_why_names_the_stored_ids_that_contain_the_one_that_is_not(database_url, capsys):
    def why(trace_id, *options):
        with pytest.raises(SystemExit) as ended:
            run(["why", trace_id, "--database-url", database_url, *options])
        return ended.value.code, capsys.readouterr().out

    code, out = why("demo-0001")
    assert code == 1
    assert out.splitlines()[-1].strip() == f"ragsonde why {STORED}"
    code, out = why("demo-0001", "--output", "json")
    assert (code, json.loads(out)["similar_ids"]) == (1, [STORED])
    code, out = why(STORED, "--output", "json")
    assert (code, json.loads(out)["similar_ids"]) == (0, [])


@pytest.mark.usefixtures("_stored")
@pytest.mark.parametrize("columns", [80, 160])
def test_the_live_table_says_where_to_read_on_with_a_real_id(own_engine, columns):
    console = Console(file=io.StringIO(), width=columns)
    console.print(render_scores(own_engine, columns=columns))
    text = " ".join(console.file.getvalue().split())
    assert "ragsonde list-scorers --explain; one trace:" in text
    assert text.endswith(f"ragsonde why {STORED}")
    assert text.count("judge lexical: 1 scored") == 1
