"""The reference page of scorers, written from the table of formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.cli.causes import MEANINGS
from ragsonde.cli.scorer_cards import DIRECTIONS, list_readings, show_default
from ragsonde.scoring.formula import Evidence
from ragsonde.scoring.options import SHARED_OPTIONS
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragsonde.scoring.formula import Formula
    from ragsonde.scoring.options import Option

_SKIPPED = (
    *(Cause.NO_CONTEXT, Cause.CONTEXT_TEXT_MISSING, Cause.EMPTY_RETRIEVAL, Cause.FILTERED_EMPTY),
    *(Cause.NO_QUERY, Cause.NO_ANSWER, Cause.NO_REFERENCE, Cause.NO_CLAIMS, Cause.NO_RELEVANT_CONTEXT),
)
_EVIDENCE = {
    Evidence.QUESTION: "question, contexts",
    Evidence.ANSWER: "question, contexts, answer",
    Evidence.REFERENCE_OR_ANSWER: "question, contexts, reference or answer",
    Evidence.REFERENCE: "question, contexts, reference",
}
_OPENING = """\
# Scorers

Written by `ragsonde list-scorers --output markdown`. A scorer computes a raw score in 0..1 from the verdicts
of a judge; all of an app's scorers are answered by one call. Those that are off by default are turned on by
their line under `scorers:` in `ragsonde.yaml` (a mapping given there replaces the default one). The lexical
judge assesses neither claims, statements of answer and reference, nor rubrics: with it their scorers are
`error(not_assessed)`.
"""
_OF_RECORDED = """\
## Verdicts in files

What a recorded assessment holds beside `contexts`, `missing`, `essential` and `relevant_sentences`:

| key | value | read by |
| --- | --- | --- |
| `statements` | `[{"context": "1", "text": "...", "relevant": "yes"}]` | `statement_relevancy`, extracted |
| `claims` | `[{"text": "...", "supported": "yes", "contexts": ["1"]}]`: yes, no or unsure | `faithfulness` |
| `answer_statements` | `[{"text": "...", "relevant": "yes"}]`: yes, no or unsure | `answer_relevancy` |
| `reference_statements` | `[{"text": "...", "attributed": "yes"}]`: yes or no | `context_recall` |
| `rubrics` | `{"tone": 4}`: a rating or label by the name behind `rubric:` | `rubric` |
"""


def write_page(formulas: Sequence[Formula]) -> str:
    """The page, as Markdown."""
    parts = [
        _OPENING,
        "## Which one\n\n" + _list_questions(formulas),
        "## How they differ\n\n" + _compare(formulas),
        "## Options of all\n\n" + _list_options(SHARED_OPTIONS),
        *(_describe(formula) for formula in formulas),
        _OF_RECORDED,
        "## Skipped\n\nThere is nothing to score: no number, and nobody's fault.\n\n"
        + _draw(("cause", "what it means"), ((f"`{cause}`", MEANINGS[cause]) for cause in _SKIPPED)),
    ]
    return "\n".join(parts)


def _list_questions(formulas: Iterable[Formula]) -> str:
    return _draw(
        ("scorer", "name", "answers", "needs", "on"),
        (
            (
                f"`{_name(formula)}`",
                formula.display_name,
                formula.comparison.question,
                _EVIDENCE[formula.evidence],
                "by default" if formula.is_default else "where configured",
            )
            for formula in formulas
        ),
    )


def _compare(formulas: Iterable[Formula]) -> str:
    return _draw(
        ("scorer", "algorithm", "relevance", "position", "use in the answer", "what is missing"),
        (
            (
                f"`{_name(formula)}`",
                formula.comparison.algorithm,
                formula.comparison.relevance,
                formula.comparison.position,
                formula.comparison.usage,
                formula.comparison.missing,
            )
            for formula in formulas
        ),
    )


def _describe(formula: Formula) -> str:
    comparison = formula.comparison
    names = "".join(f"; also named `{alias}`" for alias in formula.aliases)
    parts = [
        f"## {_name(formula)}\n",
        f"{comparison.question} Origin: {formula.origin}{names}.",
        f"{DIRECTIONS[formula.direction].capitalize()}.",
        f"Choose it for: {'; '.join(comparison.use_cases)}.\n",
        f"```yaml\nscorers:\n  {formula.configuration}\n```\n",
        _draw(("raw score", "reads as"), list_readings(formula.bands)),
    ]
    if formula.own_options:
        parts.append(_list_options(formula.own_options))
    parts.append(
        _draw(
            ("when", "look at", "try"),
            ((remedy.sign, remedy.evidence, remedy.action) for remedy in formula.remedies),
        )
    )
    return "\n".join(parts)


def _list_options(options: Iterable[Option[float] | Option[float | None]]) -> str:
    return _draw(
        ("option", "default", "meaning"),
        ((f"`{option.name}`", f"`{show_default(option.default)}`", option.meaning) for option in options),
    )


def _name(formula: Formula) -> str:
    return f"{formula.id}:NAME" if formula.is_named else formula.id


def _draw(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, and a line's end after it."""

    def lines() -> Iterator[str]:
        for cells in (headings, ("---",) * len(headings), *rows):
            yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"

    return "".join(lines())
