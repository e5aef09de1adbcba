from __future__ import annotations

import json

import pytest

from fakes.evaluations import make_assessment, make_calls, make_context, make_trace
from ragsonde.judging.lexical.judge import LexicalJudge
from ragsonde.redaction.wordless import WordlessJudge, withhold_words
from ragsonde.scoring.outcomes import needed_aspects, score_all
from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde_schemas.assessment import (
    AnswerStatementVerdict,
    Certainty,
    ClaimVerdict,
    ReferenceStatementVerdict,
)
from ragsonde_schemas.trace import Reference

SCORERS = build_scorers({formula.id: {} for formula in FORMULAS if formula.id != "rubric"})
WORDS = ("opening hours", "A refund", "says so", "not json", "first context", "refund", "Within", "parcel")


def make_whole():
    return make_assessment(calls=make_calls()).model_copy(
        update={
            "faults": {},
            "truncated": False,
            "claims": (ClaimVerdict(text="Within 14 days.", supported=Certainty.YES, contexts=("1",)),),
            "answer_statements": (
                AnswerStatementVerdict(text="Within 14 days.", relevant=Certainty.NO),
                AnswerStatementVerdict(text="By parcel.", relevant=Certainty.YES),
            ),
            "reference_statements": (ReferenceStatementVerdict(text="A refund.", attributed=True),),
            "notes": {"overlap": 0.5, "terms": ["refund"], "heads": {"query": [0.1, 0.2], "x": "parcel"}},
        }
    )


def test_no_word_of_judge_or_trace_is_left():
    withheld = withhold_words(make_whole())
    dumped = json.dumps(withheld.model_dump(mode="json"))
    assert [word for word in WORDS if word in dumped] == []
    assert withheld.notes == {"overlap": 0.5, "heads": {"query": [0.1, 0.2]}}


def test_faults_tell_their_cause_and_no_more():
    faults = withhold_words(make_assessment()).faults
    assert [(fault.cause.value, fault.message) for fault in faults.values()] == [
        ("verdict_mismatch", "(not stored)")
    ]


def test_every_scorer_gives_the_same_number_and_says_it_without_words():
    trace = make_trace(reference=Reference(answer="14 days"))
    plain = score_all(SCORERS, trace, make_whole())
    wordless = score_all(SCORERS, trace, withhold_words(make_whole()))
    assert [getattr(one, "raw", one.status) for one in wordless] == [
        getattr(one, "raw", one.status) for one in plain
    ]
    assert sum(one.status == "scored" for one in wordless) >= 5
    said = json.dumps([one.model_dump(mode="json") for one in wordless])
    assert [word for word in WORDS if word in said] == []


@pytest.mark.parametrize("answer", ["Within 14 days.", "On Mount Nebelhorn."])
def test_the_lexical_judge_gives_the_same_numbers(answer):
    trace = make_trace(answer=answer, contexts=(make_context(0, "A refund takes 14 days. Ask us."),))
    judge = LexicalJudge()
    wordless = WordlessJudge(judge)
    assert (wordless.name, wordless.fingerprint, wordless.is_free) == (judge.name, judge.fingerprint, True)
    scorers = build_scorers(None)
    aspects = needed_aspects(scorers, trace)
    found = [score_all(scorers, trace, one.assess(trace, aspects)) for one in (judge, wordless)]
    assert [one.raw for one in found[0]] == [one.raw for one in found[1]]
    assert "nebelhorn" not in json.dumps(wordless.assess(trace, aspects).model_dump(mode="json")).casefold()
