from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.peer_cases import read_config, read_recorded, read_trace
from ragsonde.scoring.outcomes import score
from ragsonde.scoring.table import DEFAULT_FORMULAS, build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.errors import ConfigError

CASES = json.loads((Path(__file__).parent / "five_scorers.json").read_text(encoding="utf-8"))


def test_the_file_holds_83_cases_of_all_five_scorers():
    assert len(CASES) == 83
    assert {case["scorer"] for case in CASES} == {formula.id for formula in DEFAULT_FORMULAS}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_case_gives_what_is_expected(case):
    if case["expected_status"] == "config_error":
        with pytest.raises(ConfigError, match="scale"):
            build_scorers(read_config(case))
        return
    (scorer,) = build_scorers(read_config(case))
    trace = read_trace(case)
    outcome = score(scorer, trace, read_assessment(read_recorded(case), trace))
    assert outcome.status == case["expected_status"]
    if outcome.status == "scored":
        assert outcome.value == case["expected_score"]
        assert outcome.raw == pytest.approx(
            case["expected_score"] / case["options"].get("scale", 1), abs=0.00501
        )
    else:
        assert outcome.cause == case["expected_cause"]
