"""Thresholds that a file of promptfoo's tests sets for each of its traces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ragsonde.api.promptfoo import collect_notes, is_promptfoo, read_tests
from ragsonde.cli.terminal import write_note
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.api.report import ItemResult
    from ragsonde.scoring.scorer import Scorer


@dataclass(frozen=True)
class AssertedThresholds:
    """Lowest raw scores by trace id and scorer instance; they hold before the scorer's own threshold."""

    by_trace: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """True when any trace has one."""
        return any(self.by_trace.values())

    def find(self, trace_id: str, *, scorer: str) -> float | None:
        """The lowest raw score of that trace, None where its file asks for none."""
        return self.by_trace.get(trace_id, {}).get(scorer)

    def apply(self, result: ItemResult) -> ItemResult:
        """The result with `passed` as the trace's own thresholds say."""
        asserted = self.by_trace.get(result.trace.trace_id)
        if not asserted or result.result is None:
            return result
        outcomes = tuple(
            outcome.model_copy(update={"passed": outcome.raw >= asserted[outcome.scorer]})
            if isinstance(outcome, Score) and outcome.scorer in asserted
            else outcome
            for outcome in result.outcomes
        )
        return replace(result, result=result.result.model_copy(update={"outcomes": outcomes}))


def read_thresholds(
    file: str, *, scorers: Sequence[Scorer], has_each: bool, has_target: bool
) -> AssertedThresholds:
    """What the assertions in the file ask for, none where it is no file of tests; tells what is not read.

    Raises:
        InputError: the file cannot be read, or `has_each` is asked for and a scorer it needs is not run.
    """
    if not is_promptfoo(file):
        return AssertedThresholds()
    tests = read_tests(file)
    for note in collect_notes(tests, has_target=has_target):
        write_note(note)
    run = {scorer.formula_id for scorer in scorers}
    for test in tests:
        lacking = next((formula for formula in test.thresholds if formula not in run), None)
        if has_each and lacking is not None:
            raise InputError(
                f"--fail-each: {test.place} asks for {lacking}, which is not run; name it in --scorers"
            )
    return AssertedThresholds(
        {
            test.trace_id: {
                scorer.instance: test.thresholds[scorer.formula_id]
                for scorer in scorers
                if scorer.formula_id in test.thresholds
            }
            for test in tests
        }
    )
