from __future__ import annotations

import json
from pathlib import Path

import pytest

from unit.scoring.rag_traces import make_trace
from unit.scoring.recorded_scores import score_one

CASES = json.loads((Path(__file__).parent / "wider_scorers.json").read_text(encoding="utf-8"))
KEYS = {
    "faithfulness": ("claims", "supported"),
    "answer_relevancy": ("answer_statements", "relevant"),
    "context_recall": ("reference_statements", "attributed"),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_case_gives_what_is_expected(case):
    key, verdict_key = KEYS[case["scorer"]]
    verdicts = case["inputs"]["verdicts"]
    recorded = {key: [{"text": f"Claim {n}.", verdict_key: v} for n, v in enumerate(verdicts)]}
    trace = make_trace(["one"], reference=case["inputs"].get("reference", "The reference."))
    outcome = score_one(case["scorer"], trace, recorded)
    assert outcome.status == case["expected_status"]
    if outcome.status == "scored":
        assert outcome.value == case["expected_score"]
        assert outcome.details.items() >= case.get("expected_details", {}).items()
    else:
        assert outcome.cause == case["expected_cause"]
