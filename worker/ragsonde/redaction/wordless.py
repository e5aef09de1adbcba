"""Verdicts without the words of a trace, for a deployment that stores none: numbers and counts stay.

Scores are the same: formulas count verdicts and never read their words. As judges are wrapped, what explains
a score is made of the verdicts that are stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragsonde.ports import Judge
    from ragsonde_schemas.assessment import Aspect, Assessment
    from ragsonde_schemas.trace import Trace

WITHHELD = "(not stored)"
_LISTED = ("statements", "claims", "answer_statements", "reference_statements")


def withhold_words(assessment: Assessment) -> Assessment:
    """The same verdicts; every text in them that a judge wrote or took from the trace is replaced."""
    changes: dict[str, Any] = {
        name: tuple(_withhold(verdict) for verdict in verdicts)
        for name in _LISTED
        if (verdicts := getattr(assessment, name)) is not None
    }
    if assessment.contexts is not None:
        changes["contexts"] = {
            number: verdict.model_copy(update={"reason": None})
            for number, verdict in assessment.contexts.items()
        }
    if assessment.missing is not None:
        changes["missing"] = (WITHHELD,) * len(assessment.missing)
    return assessment.model_copy(
        update={
            **changes,
            "reason": None,
            "faults": {
                aspect: fault.model_copy(update={"message": WITHHELD})
                for aspect, fault in assessment.faults.items()
            },
            "notes": _keep_numbers(assessment.notes),
            "calls": tuple(call.model_copy(update={"reply": ""}) for call in assessment.calls),
        }
    )


def _withhold(verdict: Any) -> Any:  # noqa: ANN401 - four kinds of verdicts, alike in this
    words = {"text": WITHHELD} | ({"reason": None} if hasattr(verdict, "reason") else {})
    return verdict.model_copy(update=words)


def _keep_numbers(notes: dict[str, Any]) -> dict[str, Any]:
    kept = {name: _keep_numbers(note) if isinstance(note, dict) else note for name, note in notes.items()}
    return {name: note for name, note in kept.items() if _is_wordless(note)}


def _is_wordless(note: object) -> bool:
    if isinstance(note, list | tuple):
        return all(_is_wordless(one) for one in note)
    return note is None or isinstance(note, bool | int | float | dict)


class WordlessJudge:
    """A judge whose verdicts hold no words; in all else it is the judge it wraps."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name = judge.name
        self.fingerprint = judge.fingerprint
        self.is_free = judge.is_free

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - `estimate` of a paid judge
        return getattr(self._judge, name)

    def assess(
        self, trace: Trace, aspects: frozenset[Aspect], *, deadline: float | None = None
    ) -> Assessment:
        """As `ports.Judge.assess`, without words."""
        return withhold_words(self._judge.assess(trace, aspects, deadline=deadline))
