"""A stored trace that a judge looks at once more, for the person who asks."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select

from fakes.clock import FakeClock
from fakes.evaluations import plan_free
from fakes.judged_traces import make_trace
from mock_llm.outcomes import Outcome
from mock_llm.server import MockLlm
from ragsonde.cli.main import run
from ragsonde.storage.tables import Tables
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


@pytest.fixture
def llm():
    with MockLlm(Outcome("ok", tokens_in=900, tokens_out=100)) as served:
        yield served


@pytest.fixture
def _stored(own_engine):
    clock = FakeClock()
    clock.advance((datetime.now(UTC) - clock.now()).total_seconds())
    trace = make_trace(trace_id="order-42").model_copy(update={"occurred_at": datetime.now(UTC)})
    PostgresStores(clock, own_engine).traces.admit(trace, (plan_free(),))


@pytest.fixture
def why(database_url, llm, tmp_path, capsys):
    """Calls the command with a judge `gpt`; its exit code and what it prints."""
    config = tmp_path / "ragsonde.yaml"
    judge = {
        "name": "gpt",
        "kind": "litellm",
        "model": "openai/gpt-4o-mini",
        "api_base": llm.url,
        "reasons": "none",
        "scorers": ["context_precision"],
        "fallbacks": [{"model": "openai/gpt-4.1-mini", "api_base": llm.url}],
    }
    config.write_text(json.dumps({"judges": [{"name": "lexical", "kind": "lexical"}, judge]}))

    def call(*options):
        with pytest.raises(SystemExit) as ended:
            run(["why", "order-42", "--config", str(config), "--database-url", database_url, *options])
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return call


def count_rows(engine):
    with engine.connect() as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table))
            for table in Tables.metadata.sorted_tables
        }


@pytest.mark.usefixtures("_stored")
def test_a_judge_tells_reasons_scores_and_its_cost_and_nothing_is_stored(why, llm, own_engine):
    before = count_rows(own_engine)
    code, out, err = why("--ask", "gpt")
    assert err == ""
    lines = " ".join(out.split())
    assert code == 0
    assert "trace order-42, app default, revision 1" in lines
    assert "asked now; not stored, in no mean" in lines
    assert "1 call, 900 tokens in, 100 out, 0.000195 USD" in lines
    assert "context 1: level high, relevant, used: 2 shared words" in lines
    assert "context_precision" in lines
    assert "essential_context" in lines
    assert llm.total == 1
    assert count_rows(own_engine) == before


@pytest.mark.usefixtures("_stored")
def test_scripts_get_the_whole_assessment(why):
    code, out, _ = why("--ask", "gpt", "--output", "json")
    (answer,) = json.loads(out)["asked"]
    assert (code, answer["judge"], answer["trace_id"], answer["revision"]) == (0, "gpt", "order-42", 1)
    assert answer["assessment"]["contexts"]["1"]["reason"] == "2 shared words"
    assert answer["assessment"]["calls"][0]["tokens_in"] == 900
    assert {outcome["status"] for outcome in answer["outcomes"]} == {"scored"}


@pytest.mark.usefixtures("_stored")
def test_a_price_that_is_not_known_is_not_0(why, llm):
    llm.run_script(Outcome("ok", tokens_in=0))
    assert "1 call, tokens unknown, cost unknown" in " ".join(why("--ask", "gpt")[1].split())


@pytest.mark.usefixtures("_stored")
def test_the_free_judge_costs_no_call(why, llm):
    code, out, _ = why("--ask", "lexical")
    assert (code, llm.total) == (0, 0)
    assert "call" not in out


@pytest.mark.usefixtures("_stored")
def test_a_judge_that_is_away_or_unknown_is_said(why, llm):
    llm.run_script("503")
    code, _, err = why("--ask", "gpt")
    assert code == 4
    assert "503" in err
    code, _, err = why("--ask", "gtp")
    assert code == 2
    assert err.startswith("ragsonde: --ask gtp: no such judge; did you mean gpt?")


@pytest.mark.usefixtures("_stored")
def test_the_answer_of_a_fallback_carries_the_fallbacks_fingerprint(why, llm):
    own = json.loads(why("--ask", "gpt", "--output", "json")[1])["asked"][0]["fingerprint"]
    llm.run_script(["503", "ok"])
    code, out, _ = why("--ask", "gpt", "--output", "json")
    (answer,) = json.loads(out)["asked"]
    assert code == 0
    assert answer["fingerprint"] not in {None, own}
    assert answer["fingerprint"] == answer["assessment"]["answered_fingerprint"]


def test_a_trace_that_is_not_known_is_not_judged(why, llm):
    code, out, _ = why("--ask", "gpt")
    assert (code, llm.total) == (1, 0)
    assert "never seen" in out
