"""Rubrics: a question of the user's own, answered with a rating.

raw = (rating - 1) / (k - 1) on a scale from 1 to k, or what the configuration says that a label is worth.
Configured as `rubric:<name>`, any number of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragsonde.scoring.formula import Computed, always
from ragsonde.scoring.options import Option, describe, number_reader
from ragsonde.scoring.phrases import shorten
from ragsonde.scoring.rubric_verdicts import find_rating, find_rating_fault
from ragsonde.scoring.verdict_words import fold_word, read_rating, read_text
from ragsonde_schemas.assessment import Aspect, Fault
from ragsonde_schemas.errors import Cause, ConfigError
from ragsonde_schemas.rubric import Rubric

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

NAME = "name"
"""Key of the options under which the name behind `rubric:` stands."""

_MOST_POINTS = 100
_LONGEST_QUESTION = 2_000
_LONGEST_SHOWN = 120

find_needs = always(Aspect.RUBRICS)
_read_worth = number_reader(lambda number: 0 <= number <= 1, expected="a number from 0 to 1")


def read_question(value: object, *, place: str) -> str:
    """The question on one line.

    Raises:
        ConfigError: it is no text, blank or too long.
    """
    text = read_text(value)
    if text is None or len(text) > _LONGEST_QUESTION:
        raise ConfigError(
            f"{place}: found {describe(value)}, expected a question of at most {_LONGEST_QUESTION} characters"
        )
    return " ".join(text.split())


def read_points(value: object, *, place: str) -> int:
    """The best rating of a scale from 1.

    Raises:
        ConfigError: it is no whole number from 2 to 100.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= _MOST_POINTS:  # noqa: PLR2004 - a scale of one point rates nothing
        raise ConfigError(
            f"{place}: found {describe(value)}, expected a whole number from 2 to {_MOST_POINTS}"
        )
    return value


def read_labels(value: object, *, place: str) -> tuple[tuple[str, float], ...]:
    """The labels with what each is worth, in their order.

    Raises:
        ConfigError: with every problem found.
    """
    if not isinstance(value, Mapping) or len(value) < 2:  # noqa: PLR2004 - one label rates nothing
        raise ConfigError(
            f"{place}: found {describe(value)}, expected two or more labels, each with a number from 0 to 1"
        )
    labels: dict[str, float] = {}
    problems = []
    for written, worth in value.items():
        label = read_rating(written)
        if label is None:
            problems.append(f"{place}: found {describe(written)}, expected a label of at most 64 characters")
            continue
        if fold_word(label) in map(fold_word, labels):
            problems.append(f"{place}: {describe(label)} is there twice; keep one of them")
        try:
            labels[label] = _read_worth(worth, place=f"{place}.{label}")
        except ConfigError as error:
            problems.extend(error.problems)
    if problems:
        raise ConfigError(*problems)
    return tuple(labels.items())


QUESTION: Option[str | None] = Option(
    "question", default=None, read=read_question, meaning="what the judge is asked about the trace; required"
)
POINTS: Option[int | None] = Option(
    "points", default=None, read=read_points, meaning="k of a scale from 1, the worst, to k, the best"
)
LABELS: Option[tuple[tuple[str, float], ...]] = Option(
    "labels",
    default=(),
    read=read_labels,
    meaning="in place of points: what may be answered, and what raw score each is, as in "
    'labels: {"yes": 1, "partly": 0.5, "no": 0} (yes and no in quotes: YAML reads them as true and false)',
)


def check_options(options: Options) -> tuple[str, ...]:
    """What is missing or too much: a rubric has a question, and either points or labels."""
    problems = []
    if QUESTION.of(options) is None:
        problems.append("`question` is missing; expected what the judge is to be asked about each trace")
    if bool(POINTS.of(options)) == bool(LABELS.of(options)):
        found = "both `points` and `labels`" if LABELS.of(options) else "neither `points` nor `labels`"
        problems.append(f"found {found}; expected one of them, for example points: 5")
    return tuple(problems)


def build_rubric(options: Options) -> Rubric:
    """What a judge is told."""
    points = POINTS.of(options)
    labels = tuple(label for label, _ in LABELS.of(options))
    return Rubric(
        name=str(options[NAME]),
        question=QUESTION.of(options) or "",
        ratings=labels or tuple(map(str, range(1, (points or 0) + 1))),
        is_scale=not labels,
    )


def list_rubrics(scorers: Iterable[Scorer]) -> tuple[Rubric, ...]:
    """The rubrics that scorers compute by, each once.

    Raises:
        ConfigError: two of the same name differ.
    """
    rubrics: dict[str, tuple[str, Rubric]] = {}
    problems = []
    for scorer in scorers:
        if Aspect.RUBRICS not in scorer.needs or NAME not in scorer.options:
            continue
        rubric = build_rubric(scorer.options)
        first, known = rubrics.setdefault(rubric.name, (scorer.instance, rubric))
        if known != rubric:
            problems.append(
                f"scorers.{scorer.instance}: rubric:{rubric.name} has another question, scale or labels than "
                f"in scorers.{first}; give it another name behind `rubric:`"
            )
    if problems:
        raise ConfigError(*problems)
    return tuple(rubric for _, rubric in rubrics.values())


def find_own_fault(assessment: Assessment, options: Options) -> Fault | None:
    """Why there is no rating of this rubric: others may have theirs."""
    rubric = build_rubric(options)
    verdict = (assessment.rubrics or {}).get(rubric.name)
    whole = assessment.faults.get(Aspect.RUBRICS)
    return whole if verdict is None and whole is not None else find_rating_fault(rubric, verdict)


def compute(_trace: Trace, assessment: Assessment, options: Options) -> Computed | Fault:
    """What the rating is worth."""
    rubric = build_rubric(options)
    verdict = (assessment.rubrics or {}).get(rubric.name)
    rating = None if verdict is None else find_rating(rubric, verdict)
    if rating is None:
        return Fault(cause=Cause.NOT_ASSESSED, message=f"the judge gave no rating for {rubric.name}")
    raw = (
        rubric.ratings.index(rating) / (len(rubric.ratings) - 1)
        if rubric.is_scale
        else dict(LABELS.of(options))[rating]
    )
    return Computed(raw=raw, details={"rubric": rubric.name, "rating": rating})


def explain(_trace: Trace, _assessment: Assessment, computed: Computed, options: Options) -> str:
    """The rating, and the question it answers."""
    points = POINTS.of(options)
    of_points = f" of {points}" if points else ""
    question = shorten(QUESTION.of(options) or "", most=_LONGEST_SHOWN)
    return f'rated {computed.details["rating"]}{of_points} on "{question}"'
