"""A judge that refuses, one that lets another model answer, and one that has answered already."""

from __future__ import annotations

import pytest

from builders.rag_messages import make_messages
from mock_llm.server import MockLlm
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.options import JudgeOptions
from ragsonde.storage.judge_states import read_paused
from ragsonde_schemas.stream_labels import judge_label
from services.judging_worker import JudgingWorker, make_judge
from services.waiting import wait_for

pytestmark = pytest.mark.integration

TRACES = 60
LEXICAL = {"name": "lexical", "kind": "lexical"}
PATIENT = {"timeout_seconds": 5, "deadline_seconds": 20}


@pytest.fixture
def llm():
    with MockLlm() as served:
        yield served


def warm_up(worker):
    """Lets the first call pass that loads litellm, so that the rest is about the judge."""
    worker.warm_up(make_messages(1, prefix="first", answers="f")[0])


def test_a_judge_that_refuses_is_paused_for_all_and_resumes_by_itself(database_url, llm, tmp_path):
    key = tmp_path / "key"
    key.write_text("old-key\n")
    options = make_judge(llm.url, api_key_file=str(key), **PATIENT)
    with JudgingWorker(database_url, LEXICAL, options, threads=4) as worker:
        warm_up(worker)
        llm.run_script("401")
        worker.take(make_messages(TRACES))
        wait_for(
            lambda: (
                worker.count("SELECT count(*) FROM evaluation WHERE cause = 'judge_unavailable'") == TRACES
            ),
            what="all waiting",
        )
        assert worker.count_states("lexical") == {"scored": TRACES + 1}
        assert {judge for judge, _ in read_paused(worker.engine)} == {"gpt"}
        refused = llm.counts["401"]
        assert refused <= 4 + 4
        for probes in (1, 2):
            wait_for(
                lambda expected=refused + probes: worker.clock.advance(2) or llm.counts["401"] >= expected,
                what="the next probe",
            )
        assert llm.counts["401"] <= refused + 3
        key.write_text("new-key\n")
        llm.run_script("ok")
        worker.wait_until_done(TRACES + 1)
        assert worker.count_states("gpt") == {"scored": TRACES + 1}
        assert read_paused(worker.engine) == frozenset()
        assert llm.calls[-1].authorization == "Bearer new-key"
        assert worker.query("SELECT max(attempts) FROM evaluation") == [(0,)]


def test_a_fallback_answers_in_a_stream_of_its_own_that_is_never_the_judges_cache(database_url, llm):
    with MockLlm() as other:
        fallback = {"model": "openai/mock-large", "api_base": other.url, "api_key": "none"}
        circuit = {"failures": 1, "open_seconds": 300}
        options = make_judge(llm.url, fallbacks=[fallback], circuit=circuit, **PATIENT)
        expected = [
            LitellmJudge(JudgeOptions.model_validate({**options, "model": model})).fingerprint
            for model in ("openai/mock", "openai/mock-large")
        ]
        with JudgingWorker(database_url, options, threads=1) as worker:
            own, second = sorted(worker.read_series("judge_circuit_open").items())
            assert ('model="openai/mock"' in own[0], 'model="openai/mock-large"' in second[0]) == (True, True)
            assert own[1] == second[1] == 0
            warm_up(worker)
            llm.run_script("500")
            worker.take(make_messages(4))
            worker.wait_until_done(5)
            assert (llm.counts["500"], other.total) == (1, 4)
            assert worker.count("SELECT sum(calls) FROM evaluation WHERE trace_id LIKE 't-%%'") == 1 + 4
            streams = "SELECT DISTINCT fingerprint, answered_fingerprint FROM score WHERE trace_id LIKE %s"
            assert worker.query(streams, "first-%") == [(expected[0], None)]
            assert worker.query(streams, "t-%") == [tuple(expected)]
            labels = {judge_label("gpt", fingerprint) for fingerprint in expected}
            counted = worker.read_series("score_count")
            assert {label for label in labels if any(f'judge="{label}"' in one for one in counted)} == labels
            worker.take(make_messages(4, prefix="again"))
            worker.wait_until_done(9)
            assert (llm.total, other.total) == (2, 8)
            assert worker.count("SELECT count(*) FROM assessment WHERE is_cached") == 0


def test_two_hundred_traces_cost_two_hundred_calls_and_the_same_contents_again_cost_none(database_url, llm):
    options = make_judge(llm.url, timeout_seconds=60, deadline_seconds=100)
    with JudgingWorker(database_url, options) as worker:
        messages = make_messages(200)
        worker.warm_up(messages[0])
        worker.take(messages[1:])
        worker.wait_until_done(200)
        assert llm.counts == {"ok": 200}
        assert worker.count("SELECT count(*) FROM score WHERE status = 'scored'") == 200 * 5
        worker.take(make_messages(200, prefix="new"))
        worker.wait_until_done(400)
        assert llm.counts == {"ok": 200}
        assert worker.count("SELECT count(*) FROM score WHERE status = 'scored'") == 400 * 5
        assert worker.count("SELECT count(*) FROM assessment WHERE is_cached AND judge_epoch = 1") == 200
        differing = """
            SELECT count(*) FROM score a JOIN score b ON b.trace_id = replace(a.trace_id, 't-', 'new-')
            AND a.scorer = b.scorer WHERE a.trace_id LIKE 't-%%' AND a.raw IS DISTINCT FROM b.raw
        """
        assert worker.count(differing) == 0
        hits = sum(
            n for labels, n in worker.read_series("judge_cache_total").items() if 'result="hit"' in labels
        )
        assert hits == 200
