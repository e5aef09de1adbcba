"""Which state of an evaluation may follow which: every statement that changes one takes its guard from here.

A guard is the list of states that a row may be in for the change to happen (`WHERE state = ANY(...)`): an
illegal transition changes no row. Taking over an expired lease is `running -> waiting -> running` in one
statement, so it is guarded by the way there, not by the pair.
"""

from __future__ import annotations

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import (
    REOPENINGS,
    TERMINAL,
    TRANSITIONS,
    EvaluationResult,
    EvaluationState,
)

BIRTH_STATES = frozenset(EvaluationState) - {EvaluationState.RUNNING, EvaluationState.SUPERSEDED}
"""An evaluation may be born waiting, or finished by a free judge, or left out; never half way."""

ENDS_OF_A_RUN = frozenset({EvaluationState.SCORED, EvaluationState.NOT_EVALUABLE, EvaluationState.FAILED})
"""What a claimed evaluation may end as; superseded is the store's own finding."""

NOT_ITS_OWN = frozenset({Cause.JUDGE_UNAVAILABLE, Cause.JUDGE_RETIRED, Cause.CONTENT_EXPIRED})
"""Causes for which a trace cannot help that its evaluation failed: they are no attempts."""

UNFINISHED = frozenset(EvaluationState) - TERMINAL
"""What still has to be run."""


def list_sources(target: EvaluationState) -> list[str]:
    """The states from which `target` may be reached in one step, as bound parameters want them."""
    return sorted(state.value for state, targets in TRANSITIONS.items() if target in targets)


def list_reopenable() -> list[str]:
    """The states from which a person may have an evaluation judged once more, as bound parameters."""
    return sorted(state.value for state in REOPENINGS)


def count_attempts(result: EvaluationResult | None) -> int:
    """1 for an evaluation that ended as failed by the trace's own fault, else 0."""
    if result is None or result.state is not EvaluationState.FAILED:
        return 0
    return int(result.cause not in NOT_ITS_OWN)


def require_birth(state: EvaluationState, *, judge: str) -> None:
    """Refuses a planned evaluation in a state that none is born in.

    Raises:
        ValueError: names the judge and the states that are possible.
    """
    if state not in BIRTH_STATES:
        expected = ", ".join(sorted(BIRTH_STATES))
        raise ValueError(f"planned evaluation of judge {judge} in state {state}: expected one of {expected}")


def require_end(state: EvaluationState, *, judge: str) -> None:
    """Refuses a result in a state that no run ends in.

    Raises:
        ValueError: names the judge and the states that are possible.
    """
    if state not in ENDS_OF_A_RUN:
        expected = ", ".join(sorted(ENDS_OF_A_RUN))
        raise ValueError(f"result of judge {judge} in state {state}: expected one of {expected}")
