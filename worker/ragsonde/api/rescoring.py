"""Scores by other options from verdicts that are stored: no judge is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.pipeline.judging import choose_wanted
from ragsonde.scoring.outcomes import fail_all, find_skip, score_all
from ragsonde.scoring.shown_version import find_shown
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.score import Score, Unscored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.scoring.scorer import Scorer
    from ragsonde.storage.assessments import StoredEvaluation
    from ragsonde_schemas.score import Outcome

_EXPIRED = "the {} of the trace were dropped by retention: its score cannot be computed again"


def rescore(stored: StoredEvaluation, *, scorers: Sequence[Scorer]) -> tuple[Outcome, ...]:
    """The outcomes that a fresh evaluation with these scorers would have, given the same verdicts.

    Where the texts, or the verdicts, have been dropped: skipped(content_expired). Where the judge never gave
    any: the error that the evaluation ended with.
    """
    trace = stored.trace
    wanted = choose_wanted(trace, scorers)
    if not stored.has_texts:
        return tuple(_expire(scorer, stored, what="texts") for scorer in wanted)
    if stored.assessment is not None:
        return score_all(wanted, trace, stored.assessment)
    if all(find_skip(scorer, trace) is not None for scorer in wanted):
        return score_all(wanted, trace, Assessment())
    if stored.cause is not None:
        return fail_all(wanted, trace, stored.cause, "the judge gave no verdicts when it was asked")
    return tuple(find_skip(scorer, trace) or _expire(scorer, stored, what="verdicts") for scorer in wanted)


def find_counting(stored: StoredEvaluation, scorer: str, *, active: str | None) -> Outcome | None:
    """The stored outcome of a scorer that is shown: of the active version, else the newest one."""
    own = [(one.created_at, one.outcome) for one in stored.outcomes if one.outcome.scorer == scorer]
    return find_shown(own, active=active)


def find_raw(outcome: Outcome | None) -> float | None:
    """The raw score, None where there is none."""
    return outcome.raw if isinstance(outcome, Score) else None


def _expire(scorer: Scorer, stored: StoredEvaluation, *, what: str) -> Unscored:
    return Unscored(
        status="skipped",
        scorer=scorer.instance,
        version=_guess_version(scorer, stored),
        cause=Cause.CONTENT_EXPIRED,
        reason=_EXPIRED.format(what),
    )


def _guess_version(scorer: Scorer, stored: StoredEvaluation) -> str:
    """With the basis that the verdicts tell: what supports a reference is judged only where there is one."""
    if stored.has_texts or len(scorer.versions) == 1:
        return scorer.version_for(stored.trace)
    contexts = stored.assessment.contexts if stored.assessment else None
    has_reference = any(verdict.supports is not None for verdict in (contexts or {}).values())
    basis = ":reference" if has_reference else ":answer"
    return next(version for version in scorer.versions if version.endswith(basis))
