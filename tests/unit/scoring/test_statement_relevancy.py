from __future__ import annotations

import pytest

from unit.scoring.rag_traces import make_trace
from unit.scoring.recorded_scores import score_one

TRACE = make_trace(["Alpha is one. Beta is two.", "  ", "Gamma is three. Delta is four. Epsilon is five."])


def test_sentences_of_all_contexts_are_pooled():
    outcome = score_one("statement_relevancy", TRACE, {"relevant_sentences": ["1", "3.2"]})
    assert outcome.raw == 3 / 5
    assert outcome.details["by_context"] == {"1": {"relevant": 2, "all": 2}, "3": {"relevant": 1, "all": 3}}
    assert outcome.reason == (
        "0.60: 3 of 5 sentences are relevant to the question, with the answer as evidence: "
        "2 of 2 in context 1 and 1 of 3 in context 3"
    )


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ([], "0.00: none of 5 sentences is"),
        (["1", "3"], "1.00: all 5 sentences are"),
        (["1.1"], "0.20: 1 of 5 sentences is"),
    ],
)
def test_the_reason_counts_in_words(named, words):
    outcome = score_one("statement_relevancy", TRACE, {"relevant_sentences": named})
    assert outcome.reason.startswith(f"{words} relevant to the question")


def test_sentences_that_were_not_shown_leave_the_denominator():
    recorded = {"relevant_sentences": ["1.1"], "sentences_shown": ["1.1", "1.2", "3.1"]}
    outcome = score_one("statement_relevancy", TRACE, recorded)
    assert outcome.raw == 1 / 3
    assert outcome.details["sentences_shown"] == 3
    assert outcome.details["sentences_total"] == 5
    assert outcome.details["truncated"] is True
    assert outcome.reason.endswith("; the judge saw 3 of 5 sentences")


def test_extracted_statements_are_pooled_over_contexts():
    statements = [
        {"context": "1", "text": "Alpha is one", "relevant": True},
        {"context": "3", "text": "Gamma is three", "relevant": False},
        {"text": "There are five", "relevant": False},
    ]
    outcome = score_one("statement_relevancy", TRACE, {"statements": statements}, statements="extracted")
    assert outcome.raw == 1 / 3
    assert outcome.details["statements"] == "extracted"
    assert outcome.details["n_statements"] == 3
    assert outcome.reason.startswith("0.33: 1 of 3 statements is relevant to the question")


def test_no_extracted_statement_is_an_error_of_its_own():
    outcome = score_one("statement_relevancy", TRACE, {"statements": []}, statements="extracted")
    assert (outcome.status, outcome.cause) == ("error", "no_statements")


def test_no_sentence_shown_is_an_error_and_no_division():
    recorded = {"relevant_sentences": [], "sentences_shown": []}
    outcome = score_one("statement_relevancy", TRACE, recorded)
    assert (outcome.status, outcome.cause) == ("error", "no_statements")


def test_what_the_other_source_needs_is_not_enough():
    outcome = score_one("statement_relevancy", TRACE, {"relevant_sentences": ["1"]}, statements="extracted")
    assert (outcome.status, outcome.cause) == ("error", "not_assessed")
