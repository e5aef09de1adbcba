"""Traces through a provider that fails now and then: all are scored or named, none is wrong.

CHAOS=long makes it a thousand.
"""

from __future__ import annotations

import os
from collections import defaultdict

import pytest

from builders.rag_messages import PATTERNS, expect_position, expect_precision, make_messages, pattern_of
from services.judging_worker import JudgingWorker, make_judge
from services.mock_llm_process import running_llm

pytestmark = pytest.mark.integration

TRACES, FEWEST_OF_A_KIND = (1000, 10) if os.environ.get("CHAOS") == "long" else (300, 1)
SCORERS = {
    "context_position",
    "context_precision",
    "context_relevance",
    "essential_context",
    "statement_relevancy",
}
ROWS = "SELECT trace_id, scorer, status, raw, value, cause FROM score WHERE trace_id LIKE %s"


@pytest.fixture
def llm():
    with running_llm(seed=7) as process:
        yield process


@pytest.fixture
def worker(database_url, llm):
    # a circuit tells by the machine's seconds, which cannot be skipped: a failed probe must not double them
    circuit = {"open_seconds": 0.5, "longest_open_seconds": 0.5}
    judge = make_judge(llm.url, timeout_seconds=1, deadline_seconds=20, circuit=circuit)
    with JudgingWorker(database_url, judge, skips_to_last=True) as running:
        yield running


def read_scores(worker, prefix):
    """By trace and scorer: status, raw, value and cause."""
    found = defaultdict(dict)
    for trace_id, scorer, *rest in worker.query(ROWS, f"{prefix}-%"):
        found[trace_id][scorer] = tuple(rest)
    return found


def learn_scores(worker):
    """What a provider without faults gives for each pattern."""
    messages = make_messages(len(PATTERNS), prefix="clean", answers="c")
    worker.warm_up(messages[0])
    worker.take(messages[1:])
    worker.wait_until_done(len(PATTERNS))
    clean = {pattern_of(trace_id): scores for trace_id, scores in read_scores(worker, "clean").items()}
    for pattern, scores in clean.items():
        assert set(scores) == SCORERS
        assert scores["context_precision"][1] == pytest.approx(expect_precision(pattern))
        assert scores["context_position"][1] == pytest.approx(expect_position(pattern))
    return clean


def judge_with_faults(worker, llm, faults):
    """The scores of all traces, checked: each as without faults, or an error; and the causes of errors."""
    clean = learn_scores(worker)
    before = llm.total
    llm.run_script(faults)
    worker.take(make_messages(TRACES))
    worker.wait_until_done(TRACES + len(PATTERNS), seconds=240)
    found = read_scores(worker, "t")
    assert len(found) == TRACES
    causes = defaultdict(int)
    for trace_id, scores in found.items():
        assert set(scores) == SCORERS
        for scorer, (status, raw, value, cause) in scores.items():
            if status == "error":
                assert (raw, value) == (None, None)
                causes[cause] += 1
            else:
                assert (status, raw, value, cause) == clean[pattern_of(trace_id)][scorer]
    states = dict(
        worker.query("SELECT state, count(*) FROM evaluation WHERE trace_id LIKE 't-%%' GROUP BY 1")
    )
    assert set(states) <= {"scored", "failed"}
    assert states.get("failed", 0) < TRACES / 30
    (calls,) = worker.query("SELECT max(calls), max(attempts) FROM evaluation")
    return dict(causes), llm.total - before, calls


def test_rate_limits_errors_timeouts_and_cut_replies(worker, llm):
    faults = {"429@0.1": 0.05, "500": 0.05, "truncate": 0.03, "hang": 0.02}
    causes, calls, (most_calls, most_attempts) = judge_with_faults(worker, llm, faults)
    assert set(causes) <= {"invalid_reply"}
    assert TRACES * 1.05 < calls < TRACES * 1.3
    assert most_calls <= 12
    assert most_attempts <= 1
    counts = llm.read_stats()["counts"]
    assert min(counts[name] for name in ("429", "500", "truncate", "hang")) >= FEWEST_OF_A_KIND


def test_replies_that_are_cut_off_refused_or_garbage(worker, llm):
    faults = {"length": 0.04, "refusal": 0.03, "garbage": 0.03}
    causes, calls, (most_calls, most_attempts) = judge_with_faults(worker, llm, faults)
    assert set(causes) <= {"reply_truncated", "refused", "invalid_reply"}
    assert TRACES * 1.04 < calls < TRACES * 1.2
    assert most_calls <= 3
    assert most_attempts <= 1
