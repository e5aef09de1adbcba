"""The `rubrics` of a recorded assessment: a rating for each of the user's own questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragsonde.scoring.faults import refuse
from ragsonde.scoring.options import describe
from ragsonde.scoring.verdict_words import fold_word, read_rating, read_text
from ragsonde_schemas.assessment import Aspect, Fault, RubricVerdict
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde.scoring.verdict_numbers import TraceNumbers
    from ragsonde_schemas.rubric import Rubric


def read_rubrics(
    raw: Mapping[str, object], _numbers: TraceNumbers
) -> dict[str, RubricVerdict] | Fault | None:
    """Ratings by the rubric's name: from `{name: rating}`, or a list of objects with `name` and `rating`."""
    items = raw.get(Aspect.RUBRICS)
    if items is None:
        return None
    if not isinstance(items, Mapping | list | tuple):
        return refuse(items, expected="a rating by the rubric's name")
    kept: dict[str, RubricVerdict] = {}
    named: Any = items.items() if isinstance(items, Mapping) else ((_name_of(item), item) for item in items)
    for written, item in named:
        name = read_text(written)
        if name is None:
            return refuse(written, expected="the name of a rubric with each rating")
        value = item.get("rating") if isinstance(item, Mapping) else item
        rating = read_rating(value)
        if rating is None:
            return refuse(value, expected=f"a rating for the rubric {name}")
        digest = read_text(item.get("digest")) if isinstance(item, Mapping) else None
        verdict = RubricVerdict(rating=rating, digest=digest)
        if fold_word(kept.setdefault(name, verdict).rating) != fold_word(rating):
            message = f"the rubric {name} has contradicting ratings"
            return Fault(cause=Cause.VERDICT_MISMATCH, message=message)
    return kept


def find_rating(rubric: Rubric, verdict: RubricVerdict) -> str | None:
    """The rating of the rubric that a verdict means, None where it means none."""
    folded = fold_word(verdict.rating)
    return next((rating for rating in rubric.ratings if fold_word(rating) == folded), None)


def find_rating_fault(
    rubric: Rubric, verdict: RubricVerdict | None, *, called: str | None = None
) -> Fault | None:
    """Why a verdict gives no rating of the rubric, or None when it does; `called` is what to call it."""
    name = called or rubric.name
    if verdict is None:
        return Fault(cause=Cause.NOT_ASSESSED, message=f"the judge gave no rating for {name}")
    if verdict.digest is not None and verdict.digest != rubric.digest:
        message = f"{name} had another question or other ratings when it was judged"
        return Fault(cause=Cause.NOT_ASSESSED, message=message)
    if find_rating(rubric, verdict) is None:
        expected = ", ".join(rubric.ratings)
        if rubric.is_scale:
            expected = f"a whole number from {rubric.ratings[0]} to {rubric.ratings[-1]}"
        message = f"{name}: found {describe(verdict.rating)}, expected {expected}"
        return Fault(cause=Cause.INVALID_VERDICT, message=message)
    return None


def find_ratings_fault(rubrics: Iterable[Rubric], verdicts: Mapping[str, RubricVerdict]) -> Fault | None:
    """The first reason why ratings do not answer exactly these rubrics, or None when they do.

    Its words name the number of a question too: that is what a judge knows it by.
    """
    asked = list(rubrics)
    for number, rubric in enumerate(asked, start=1):
        called = f"question {number} ({rubric.name})"
        verdict = verdicts.get(rubric.name)
        if verdict is None:
            message = f"the rating of {called} is missing"
            return Fault(cause=Cause.VERDICT_MISMATCH, message=message)
        if (fault := find_rating_fault(rubric, verdict, called=called)) is not None:
            return fault
    unknown = [name for name in verdicts if name not in {rubric.name for rubric in asked}]
    if unknown:
        message = f"no question has the number {describe(unknown[0].removeprefix('#'))}"
        return Fault(cause=Cause.VERDICT_MISMATCH, message=message)
    return None


def _name_of(item: object) -> object:
    return item.get("name") if isinstance(item, Mapping) else None
