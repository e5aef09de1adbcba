import json
import subprocess
import sys
import threading
from asyncio import CancelledError
from pathlib import Path

import pytest

import ragsonde
from fakes.judge import FakeJudge
from fakes.traces import REFUND, make_trace
from ragsonde import evaluate, score
from ragsonde.api.evaluation import Evaluation, choose_judge, choose_scorers
from ragsonde.api.report import TARGET_FAILED
from ragsonde.api.traces import Item
from ragsonde.judging.options import JudgeKind, JudgeOptions
from ragsonde.scoring.table import DEFAULT_FORMULAS, build_scorers
from ragsonde_schemas.errors import (
    Cause,
    ConfigError,
    InputError,
    JudgePausedError,
    JudgeUnavailableError,
)
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.score import Score, Unscored

VERDICTS = {
    "trace_id": "refund-1",
    "contexts": {
        "1": {"relevant": True, "level": "high", "used": True},
        "2": {"relevant": False, "level": "none", "used": False},
    },
    "essential": ["1.1"],
    "insufficient": False,
    "relevant_sentences": ["1.1"],
}


def make_messages(count, **fields):
    return [{**REFUND, "trace_id": f"t{number}", **fields} for number in range(count)]


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps(VERDICTS) + "\n", encoding="utf-8")
    return f"recorded:{path}"


def test_recorded_verdicts_give_the_scores_that_the_formulas_say(recorded):
    report = evaluate([REFUND], judge=recorded)

    # position: 1 / (1 + 1/2); precision: 1; relevance: (1 + 0) / 2; essential and statements: one of two
    assert {name: summary.mean for name, summary in report.scores.items()} == pytest.approx(
        {
            "context_position": 2 / 3,
            "context_precision": 1,
            "context_relevance": 0.5,
            "essential_context": 0.5,
            "statement_relevancy": 0.5,
        }
    )
    assert report.judge == "recorded"
    assert [item.trace.trace_id for item in report.items] == ["refund-1"]


def test_means_are_over_the_traces_that_have_a_number_and_the_others_are_counted_by_cause():
    messages = make_messages(3) + make_messages(2, contexts=[]) + make_messages(1, contexts=None)

    summary = evaluate(messages, scorers=["context_position"], judge=FakeJudge()).scores["context_position"]

    assert (summary.n, summary.mean, summary.interval) == (3, 1.0, None)
    assert summary.unscored == {"empty_retrieval": 2, "no_context": 1}


def test_one_score_has_no_interval_and_none_has_no_mean():
    one = evaluate(make_messages(1), scorers=["context_position"], judge=FakeJudge()).scores[
        "context_position"
    ]
    none = evaluate(make_messages(1, contexts=[]), judge=FakeJudge()).scores["context_position"]

    assert (one.n, one.mean, one.interval) == (1, 1.0, None)
    assert (none.n, none.mean, none.interval) == (0, None, None)


def test_twenty_scores_have_an_interval_and_equal_ones_a_width():
    report = evaluate(make_messages(20), scorers=["context_position"], judge=FakeJudge())

    # 3 / 20 of all traces may differ: the rule of three
    assert report.scores["context_position"].interval == pytest.approx((0.85, 1.0))


def test_passed_counts_the_traces_that_reach_the_threshold(recorded):
    scorers = {
        "strict": {"scorer": "context_position", "threshold": 0.7},
        "lenient": {"scorer": "context_position", "threshold": 0.6},
        "free": {"scorer": "context_position"},
    }

    scores = evaluate([REFUND], scorers=scorers, judge=recorded).scores

    assert [(name, scores[name].passed) for name in scores] == [("strict", 0), ("lenient", 1), ("free", None)]


@pytest.mark.parametrize("threads", [1, 4])
def test_items_complete_in_the_order_of_the_data(threads):
    seen = []

    report = evaluate(
        make_messages(12),
        judge=FakeJudge(is_free=False),
        on_item_complete=lambda trace, result: seen.append((trace.trace_id, result.place)),
        threads=threads,
    )

    assert seen == [(f"t{number}", f"item {number + 1}") for number in range(12)]
    assert [item.trace.trace_id for item in report.items] == [trace_id for trace_id, _ in seen]


def test_traces_are_judged_at_once_where_the_judge_makes_us_wait():
    together = threading.Barrier(4, timeout=30)

    class WaitingJudge(FakeJudge):
        def assess(self, trace, aspects, *, deadline=None):
            together.wait()
            return super().assess(trace, aspects, deadline=deadline)

    report = evaluate(make_messages(4), judge=WaitingJudge(is_free=False), threads=4)

    assert report.scores["context_position"].n == 4


def test_a_judge_has_the_time_that_its_own_options_give_it():
    judge = FakeJudge(is_free=False)

    evaluate(make_messages(1), judge=judge)

    assert [deadline for _, _, deadline in judge.asked] == [None]


def test_the_target_answers_in_place_of_the_recorded_answer():
    def target(question):
        return {"answer": f"For {question['trace_id']}.", "contexts": ["One."]}

    report = evaluate(make_messages(2), judge=FakeJudge(), target=target)

    assert [item.trace.answer for item in report.items] == ["For t0.", "For t1."]
    assert [len(item.trace.contexts) for item in report.items] == [1, 1]


def test_what_a_target_raises_is_recorded_with_its_item_and_the_others_go_on():
    def target(question):
        if question["trace_id"] == "t1":
            raise KeyError("no index")
        return {"answer": "Yes.", "contexts": ["One."]}

    report = evaluate(make_messages(3), judge=FakeJudge(), target=target, threads=2)

    assert [item.error for item in report.items] == [None, "KeyError: 'no index'", None]
    assert report.items[1].outcomes == ()
    assert report.scores["context_position"].n == 2
    assert report.scores["context_position"].unscored == {TARGET_FAILED: 1}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("raised", "told"),
    [(SystemExit(0), "SystemExit: 0"), (SystemExit(), "SystemExit"), (CancelledError(), "CancelledError")],
)
def test_a_target_that_wants_to_end_the_process_has_failed(raised, told, threads):
    def target(question):
        if question["trace_id"] == "t1":
            raise raised
        return {"answer": "Yes.", "contexts": ["One."]}

    report = evaluate(make_messages(3), judge=FakeJudge(), target=target, threads=threads)

    assert [item.error for item in report.items] == [None, told, None]
    assert report.scores["context_position"].unscored == {TARGET_FAILED: 1}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_in_a_target_ends_the_run(threads):
    def target(_question):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(make_messages(3), judge=FakeJudge(), target=target, threads=threads)


def test_an_outage_of_the_judge_is_waited_for():
    judge = FakeJudge(is_free=False, troubles=[JudgeUnavailableError("gpt", "503"), None])
    evaluation = Evaluation(build_scorers(None), judge, patience_seconds=(0.0,))

    (result,) = evaluation.run([Item("item 1", make_trace())])

    assert result.is_wholly_scored
    assert len(judge.asked) == 2


def test_an_outage_that_lasts_ends_as_an_error_and_never_as_a_number():
    judge = FakeJudge(is_free=False, troubles=[JudgeUnavailableError("gpt", "503")] * 2)
    evaluation = Evaluation(build_scorers(None), judge, patience_seconds=(0.0,))

    (result,) = evaluation.run([Item("item 1", make_trace())])

    assert {outcome.cause for outcome in result.outcomes} == {Cause.JUDGE_UNAVAILABLE}
    assert not result.is_wholly_scored


def test_a_judge_that_refuses_us_ends_the_run():
    judge = FakeJudge(is_free=False, troubles=[JudgePausedError("gpt", "401")] * 50)

    with pytest.raises(JudgePausedError):
        evaluate(make_messages(50), judge=judge, threads=2)

    assert len(judge.asked) < 50


def test_all_bad_items_are_told_at_once():
    data = [{"trace_id": "x", "contexts": 5}, REFUND, {"trace_id": ""}]

    with pytest.raises(InputError, match=r"item 1: .*contexts.*; item 3: .*trace_id"):
        evaluate(data)


@pytest.mark.parametrize("data", [[], "[]"])
def test_data_without_a_trace_are_an_error(data):
    with pytest.raises(InputError):
        evaluate(data)


def test_one_trace_and_one_scorer_give_one_outcome(recorded):
    outcome = score(REFUND, "context_position", recorded)

    assert isinstance(outcome, Score)
    assert outcome.raw == pytest.approx(2 / 3)
    assert score(make_trace(contexts=[]), "context_position").cause is Cause.EMPTY_RETRIEVAL


def test_a_scorer_with_options_scores_too(recorded):
    (scorer,) = build_scorers({"x": {"scorer": "context_relevance", "scale": 10}})

    assert score(make_trace(), scorer, recorded).value == 5


def test_a_wish_in_the_message_does_not_hide_the_scorer_that_is_asked_for():
    trace = make_trace(evaluation={"scorers": ["context_precision"]})

    assert score(trace, "context_position", FakeJudge()).scorer == "context_position"


def test_the_lexical_judge_needs_neither_service_nor_settings():
    outcome = score(REFUND, "context_precision")

    assert not isinstance(outcome, Unscored)


def test_scorers_are_chosen_by_names_options_or_themselves():
    by_table = choose_scorers(None)

    assert [scorer.instance for scorer in by_table] == [formula.id for formula in DEFAULT_FORMULAS]
    assert choose_scorers(by_table) == by_table
    assert choose_scorers(["context_position"]) == by_table[:1]
    assert choose_scorers("context_position") == by_table[:1]
    assert choose_scorers({"strict": {"scorer": "context_position"}})[0].instance == "strict"


def test_an_unknown_scorer_is_an_error_that_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean context_position"):
        choose_scorers(["context_positon"])


@pytest.mark.parametrize(
    "choice",
    ["lexical", {"kind": "lexical"}, JudgeOptions(name="lexical", kind=JudgeKind.LEXICAL)],
)
def test_a_judge_is_chosen_by_name_or_options(choice):
    judge = choose_judge(choice)

    assert (judge.name, judge.is_free) == ("lexical", True)


def test_a_judge_of_ones_own_is_taken_as_it_is():
    judge = FakeJudge()

    assert choose_judge(judge) is judge


@pytest.mark.parametrize(
    ("choice", "error", "expected"),
    [
        ("gpt", InputError, "judge 'gpt': expected lexical, recorded:FILE, or the options"),
        ("recorded:/no/such/file", InputError, "/no/such/file"),
        (
            {"kind": "lexcal"},
            ConfigError,
            r"judge\.kind: found 'lexcal', expected 'lexical', .*did you mean lexical",
        ),
        ({"kind": "litellm", "name": "gpt"}, ConfigError, "needs `model`"),
        ({"kind": "lexical", "sampl": 1}, ConfigError, r"judge\.sampl: unknown setting; did you mean sample"),
    ],
)
def test_a_judge_that_cannot_be_is_told(choice, error, expected):
    with pytest.raises(error, match=expected):
        choose_judge(choice)


def test_the_package_offers_its_functions_without_importing_them():
    seen = "print('pydantic' in sys.modules)"
    code = f"import ragsonde, sys; {seen}; ragsonde.evaluate; {seen}"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.split() == ["False", "True"]


def test_the_package_has_no_other_attributes():
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        ragsonde.evalute  # noqa: B018 - the access is the test


def test_sixty_traces_of_the_demo_are_all_accounted_for():
    report = evaluate(Path(__file__).parents[2] / "data" / "demo.jsonl")

    for summary in report.scores.values():
        assert summary.n + sum(summary.unscored.values()) == 60
        assert summary.unscored == {"empty_retrieval": 5, "no_context": 1}


def test_what_a_try_was_answered_before_an_outage_is_counted_with_the_result():
    paid = JudgeCall(purpose="assess", model="m", outcome="ok", seconds=1.0, reply="{}")
    lost = paid.model_copy(update={"outcome": "judge_unavailable"})
    outages = [JudgeUnavailableError("gpt", "503", calls=(paid, lost)) for _ in range(3)]
    items = [Item("item 1", make_trace())]
    again = FakeJudge(troubles=[outages[0]])
    (result,) = Evaluation(build_scorers(None), again, patience_seconds=(0.0,)).run(items)
    assert result.is_wholly_scored
    assert result.calls == (paid,)
    away = FakeJudge(troubles=outages[1:])
    (result,) = Evaluation(build_scorers(None), away, patience_seconds=(0.0,)).run(items)
    assert not result.is_wholly_scored
    assert result.calls == (paid, paid)
