"""Faults of the originals that are not copied, and examples of theirs that contradict their own formulas."""

from __future__ import annotations

import pytest

from ragsonde.scoring.outcomes import score_all
from ragsonde.scoring.table import build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.errors import Cause, ConfigError
from unit.scoring.rag_traces import make_texts, make_trace
from unit.scoring.recorded_scores import by_number, score_one


def test_the_denominator_is_never_the_number_of_verdicts():
    recorded = {"contexts": by_number("relevant", [True, True])}
    outcome = score_one("context_position", make_trace(make_texts(4)), recorded)
    assert (outcome.status, outcome.cause) == ("error", Cause.VERDICT_MISMATCH)
    assert outcome.reason == "relevant: 2 verdicts for 4 contexts: missing numbers 3 and 4"


def test_an_unknown_option_such_as_an_extractor_is_never_silently_ignored():
    with pytest.raises(ConfigError, match="'contextExtractor' is no option of context_relevance"):
        build_scorers({"context_relevance": {"contextExtractor": "x"}})


def test_no_verdicts_are_never_a_perfect_score():
    recorded = {"contexts": [], "missing": []}
    assert (
        score_one("context_relevance", make_trace(["one"]), recorded, scale=10).cause
        is Cause.VERDICT_MISMATCH
    )


def test_a_failed_reason_never_destroys_the_score():
    hostile = {"contexts": {"1": {"relevant": True, "reason": {"not": ["a text"]}}}, "reason": 7}
    assert score_one("context_position", make_trace(["one"]), hostile).raw == 1


def test_contexts_are_named_by_number_in_a_reason_never_joined_by_bare_commas():
    recorded = {"contexts": by_number("relevant", [True, True, False])}
    reason = score_one("context_position", make_trace(["a, b", "c, d", "e"]), recorded).reason
    assert "contexts 1 and 2 of 3" in reason
    assert "a, b" not in reason


def test_yes_with_a_blank_is_yes():
    recorded = {"contexts": by_number("relevant", ["yes ", "no"])}
    assert score_one("context_precision", make_trace(make_texts(2)), recorded).raw == 1


def test_an_unknown_level_is_an_error_and_not_nan():
    recorded = {"contexts": {"1": {"level": "very high", "used": True}}}
    outcome = score_one("context_relevance", make_trace(["one"]), recorded)
    assert (outcome.status, outcome.cause) == ("error", Cause.INVALID_VERDICT)


def test_a_negative_penalty_is_refused_and_gives_no_1_5():
    with pytest.raises(ConfigError, match=r"penalties\.unused_high: found the number -0\.5"):
        build_scorers({"context_relevance": {"penalties": {"unused_high": -0.5}}})


def test_a_header_line_is_no_sentence_because_judges_answer_in_numbers():
    recorded = {"essential": ["Here are the relevant sentences:", "1.1"]}
    outcome = score_one("essential_context", make_trace(["One is here. Two is here."]), recorded)
    assert (outcome.status, outcome.cause) == ("error", Cause.VERDICT_MISMATCH)


def test_insufficient_information_inside_a_context_zeroes_nothing():
    trace = make_trace(["Error 17 means Insufficient Information. Error 18 means timeout."])
    assert score_one("essential_context", trace, {"essential": ["1.1"], "insufficient": False}).raw == 0.5


def test_three_chinese_sentences_are_three():
    sentences = [
        "\u5df4\u9ece\u662f\u6cd5\u56fd\u7684\u9996\u90fd\u3002",
        "\u6cd5\u56fd\u5728\u6b27\u6d32\u3002",
        "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002",
    ]
    assert (
        score_one(
            "statement_relevancy", make_trace(["".join(sentences)]), {"relevant_sentences": ["1.1"]}
        ).raw
        == 1 / 3
    )


def test_no_score_that_could_enter_a_mean_is_nan():
    trace = make_trace(make_texts(2))
    recorded = {"contexts": by_number("level", ["high", float("nan")]), "missing": [float("inf")]}
    for outcome in score_all(build_scorers(None), trace, read_assessment(recorded, trace)):
        assert outcome.status == "error"
        assert not hasattr(outcome, "raw")


@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 49, 100])
def test_perfect_is_exactly_1(count):
    trace = make_trace(make_texts(count))
    recorded = {"contexts": by_number("relevant", [True] * count)}
    for name in ("context_position", "context_precision"):
        assert score_one(name, trace, recorded).raw == 1


def relevance_of(levels, *, unused=(), **penalties):
    contexts = {str(n): {"level": level, "used": n not in unused} for n, level in enumerate(levels, start=1)}
    trace = make_trace(make_texts(len(levels)))
    return score_one(
        "context_relevance", trace, {"contexts": contexts, "missing": []}, penalties=penalties
    ).value


def test_position_of_no_yes_yes_no_is_0_40_and_not_the_printed_0_5():
    recorded = {"contexts": by_number("relevant", ["no", "yes", "yes", "no"])}
    outcome = score_one("context_position", make_trace(make_texts(4)), recorded)
    assert (outcome.raw, outcome.value, outcome.band) == (0.4, 0.4, "mixed")


def test_relevance_examples_read_literally_give_other_numbers_than_are_printed():
    literal = ["high", "high", "none", "none", "high"]
    assert relevance_of(literal, unused=(3, 4, 5)) == 0.5
    assert relevance_of(literal, unused=(3, 4, 5), unused_high=0.05) == 0.55
    assert relevance_of(["none", "none", "none", "none", "high"]) == 0.2


def test_relevance_examples_as_printed_come_from_one_medium_context():
    readable = ["high", "high", "medium", "none", "high"]
    assert relevance_of(readable, unused=(3, 4, 5)) == 0.64
    assert relevance_of(readable, unused=(3, 4, 5), unused_high=0.05) == 0.69


def test_precision_0_8333_is_0_83():
    recorded = {"contexts": by_number("relevant", ["yes", "no", "yes", "no"])}
    assert score_one("context_precision", make_trace(make_texts(4)), recorded).value == 0.83


def test_relevancy_3_of_5_at_scale_100_is_60():
    trace = make_trace(["One is here. Two is here. Three is here. Four is here. Five is here."])
    recorded = {"relevant_sentences": ["1.1", "1.2", "1.3"]}
    assert score_one("statement_relevancy", trace, recorded, scale=100).value == 60
