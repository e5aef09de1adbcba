from __future__ import annotations

import pytest

from ragsonde.scoring.essential_context import UNITS, Units, choose_units
from unit.scoring.rag_traces import make_trace
from unit.scoring.recorded_scores import score_one

ONE_LINE = ["Alpha is one. Beta is two. Gamma is three."]
TWO_LINES = ["Alpha is one. Beta is two.\n\n  \nGamma is three."]
TWO_TEXTS = ["Alpha is one. Beta is two.\nGamma is three.", "Delta is four. Epsilon is five.\nZeta is six."]


@pytest.mark.parametrize(
    ("texts", "units"),
    [
        (ONE_LINE, Units.SENTENCE),
        ([ONE_LINE[0] + "\n"], Units.SENTENCE),
        (["", *ONE_LINE, "  "], Units.SENTENCE),
        (TWO_LINES, Units.LINE),
        (["", *TWO_LINES], Units.LINE),
        (TWO_TEXTS, Units.CONTEXT),
        ([*ONE_LINE, "", *ONE_LINE], Units.CONTEXT),
    ],
)
def test_auto_counts_contexts_else_lines_else_sentences(texts, units):
    assert choose_units(make_trace(texts), {}) is units


@pytest.mark.parametrize("units", [Units.SENTENCE, Units.LINE, Units.CONTEXT])
def test_configured_units_hold_whatever_the_texts_are(units):
    for texts in (ONE_LINE, TWO_LINES, TWO_TEXTS):
        assert choose_units(make_trace(texts), {UNITS.name: units}) is units


@pytest.mark.parametrize(
    ("units", "raw", "groups"),
    [("sentence", 1 / 6, ["2.3"]), ("line", 1 / 4, ["2:2"]), ("context", 1 / 2, ["2"])],
)
def test_a_group_is_essential_if_any_of_its_sentences_is(units, raw, groups):
    outcome = score_one("essential_context", make_trace(TWO_TEXTS), {"essential": ["2.3"]}, units=units)
    assert outcome.raw == raw
    assert outcome.details["essential_groups"] == groups
    assert outcome.details["units"] == units


def test_a_context_alone_means_the_whole_of_it():
    outcome = score_one("essential_context", make_trace(TWO_TEXTS), {"essential": ["2"]}, units="sentence")
    assert outcome.raw == 0.5


def test_insufficient_is_0_whatever_is_named():
    recorded = {"essential": ["1", "2"], "insufficient": True}
    outcome = score_one("essential_context", make_trace(TWO_TEXTS), recorded)
    assert outcome.raw == 0
    assert outcome.details["insufficient"] is True
    assert outcome.details["n_essential"] == 0
    assert outcome.reason == "0.00: all 2 contexts do not suffice to answer the question"


def test_nothing_essential_is_0():
    assert score_one("essential_context", make_trace(TWO_TEXTS), {"essential": []}).raw == 0


def test_sentences_that_were_not_shown_leave_the_denominator():
    recorded = {"essential": ["1.1"], "sentences_shown": ["1.1", "1.2", "2.1"]}
    by_sentence = score_one("essential_context", make_trace(TWO_TEXTS), recorded, units="sentence")
    assert by_sentence.raw == 1 / 3
    assert {key: by_sentence.details[key] for key in ("sentences_shown", "sentences_total", "truncated")} == {
        "sentences_shown": 3,
        "sentences_total": 6,
        "truncated": True,
    }
    assert by_sentence.reason.endswith("; the judge saw 3 of 6 sentences")
    assert score_one("essential_context", make_trace(TWO_TEXTS), recorded, units="line").raw == 1 / 2
    only_first = {"essential": ["1.1"], "sentences_shown": ["1.1", "1.2"]}
    assert score_one("essential_context", make_trace(TWO_TEXTS), only_first).raw == 1


def test_no_sentence_shown_is_an_error_and_no_division():
    recorded = {"essential": [], "sentences_shown": []}
    outcome = score_one("essential_context", make_trace(TWO_TEXTS), recorded)
    assert (outcome.status, outcome.cause) == ("error", "no_statements")


def test_it_is_not_rounded_and_the_scale_multiplies():
    outcome = score_one("essential_context", make_trace(ONE_LINE), {"essential": ["1.1"]}, scale=10)
    assert outcome.value == 1 / 3 * 10
    assert outcome.reason.startswith("3.33 of 10: sentence 1.1 of 3 is essential to answer the question")


def test_lines_are_named_alone_in_one_text_and_with_their_context_in_many():
    outcome = score_one("essential_context", make_trace(["", *TWO_LINES]), {"essential": ["2.3"]})
    assert outcome.reason.startswith("0.50: line 2 of 2 is essential")
    outcome = score_one(
        "essential_context", make_trace(TWO_TEXTS), {"essential": ["1.3", "2.3"]}, units="line"
    )
    assert outcome.reason.startswith("0.50: lines 1:2 and 2:2 of 4 are essential")


def test_an_answer_is_evidence_where_there_is_one_and_never_required():
    for answer, words in (
        ("It is.", "to answer the question, with the answer as evidence"),
        (None, "to answer the question"),
    ):
        outcome = score_one("essential_context", make_trace(TWO_TEXTS, answer=answer), {"essential": ["1"]})
        assert outcome.reason == f"0.50: context 1 of 2 is essential {words}"
