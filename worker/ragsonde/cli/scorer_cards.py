"""Scorers for people: a list, or a card each; and the same as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.rule import Rule

from ragsonde.cli.causes import MEANINGS
from ragsonde.cli.program import name_quoted
from ragsonde.cli.terminal import make_console, make_table, show
from ragsonde.scoring.bands import find_band

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ragsonde.scoring.bands import Band
    from ragsonde.scoring.formula import Formula
    from ragsonde.scoring.scorer import Scorer

DIRECTIONS = {"higher": "higher is better", "target": "neither way is better: compare it with its own past"}
_INDENT = (0, 0, 0, 2)


def describe_scorer(scorer: Scorer, *, is_configured: bool) -> dict[str, Any]:
    """All that is known of a scorer, as JSON values."""
    formula = scorer.formula
    return {
        "scorer": scorer.instance,
        "is_configured": is_configured,
        "formula": formula.id,
        "display_name": formula.display_name,
        "aliases": list(formula.aliases),
        "is_default": formula.is_default,
        "configuration": formula.configuration,
        "origin": formula.origin,
        "code_version": formula.code_version,
        "direction": formula.direction.value,
        "evidence": formula.evidence.value,
        "needs": sorted(scorer.needs),
        "needs_with_reference": sorted(formula.find_needs(scorer.options, True)),
        "optional": sorted(scorer.optional),
        "scale": scorer.scale,
        "threshold": scorer.threshold,
        "bands": [
            {
                "key": band.key,
                "lower": band.lower,
                "lower_included": band.is_edge_included,
                "words": band.words,
            }
            for band in formula.bands
        ],
        "options": [
            {"name": option.name, "default": show_default(option.default), "meaning": option.meaning}
            for option in formula.options
        ],
        "comparison": {
            "question": formula.comparison.question,
            "algorithm": formula.comparison.algorithm,
            "relevance": formula.comparison.relevance,
            "position": formula.comparison.position,
            "usage": formula.comparison.usage,
            "missing": formula.comparison.missing,
            "use_cases": list(formula.comparison.use_cases),
        },
        "what_to_try": [
            {"sign": remedy.sign, "evidence": remedy.evidence, "action": remedy.action}
            for remedy in formula.remedies
        ],
    }


def name_band(formula: Formula, *, raw: float) -> str:
    """The band of a raw score in a word or two; the rest of its words is for `list-scorers --explain`."""
    return find_band(formula.bands, raw=raw).words.partition(":")[0]


def print_list(scorers: Sequence[Scorer], unused: Sequence[Scorer]) -> None:
    """One line a scorer."""
    table = make_table("scorer", "name", "answers", "better")
    for scorer in (*scorers, *unused):
        formula = scorer.formula
        style = "dim" if scorer in unused else ""
        name = _name_scorer(scorer)
        better = "higher" if formula.direction.value == "higher" else "neither"
        table.add_row(
            show(name, style),
            show(formula.display_name, style),
            show(formula.comparison.question, style),
            better,
        )
    console = make_console()
    console.print(table)
    if unused:
        console.print(
            show("\nDim: known, but not among the settings' scorers; --explain shows how to add one.", "dim")
        )


def _name_scorer(scorer: Scorer) -> str:
    """Its name, with its formula where the name does not tell it."""
    formula_id = scorer.formula_id
    if scorer.instance == formula_id:
        return f"{formula_id}:NAME" if scorer.formula.is_named else formula_id
    is_told = scorer.formula.is_named and scorer.instance.startswith(f"{formula_id}:")
    return scorer.instance if is_told else f"{scorer.instance} ({formula_id})"


def print_cards(scorers: Sequence[Scorer]) -> None:
    """A card for each formula, once, however many instances compute by it."""
    console = make_console()
    for formula in dict.fromkeys(scorer.formula for scorer in scorers):
        console.print(Rule(show(f"{formula.id}: {formula.display_name}", "bold"), align="left"))
        for part in (
            _list_facts(formula),
            _list_bands(formula),
            _list_options(formula),
            _list_remedies(formula),
        ):
            console.print(Padding(part, _INDENT))
            console.print()


def print_causes() -> None:
    """What each cause of "not scored" means."""
    console = make_console()
    console.print(
        show(
            name_quoted("look at: `ragsonde why TRACE_ID`, or SQL over the view current_score of Postgres\n"),
            "dim",
        )
    )
    console.print(Rule(show("not scored: the causes", "bold"), align="left"))
    table = make_table("cause", "what it means", wrapped=("what it means",))
    for cause, meaning in MEANINGS.items():
        table.add_row(show(cause), show(name_quoted(meaning)))
    console.print(Padding(table, _INDENT))


def _list_facts(formula: Formula) -> Table:
    comparison = formula.comparison
    table = make_table("", "")
    table.show_header = False
    for name, text in (
        ("answers", comparison.question),
        ("formula", comparison.algorithm),
        ("direction", DIRECTIONS[formula.direction.value]),
        ("relevance", comparison.relevance),
        ("position", comparison.position),
        ("use in the answer", comparison.usage),
        ("what is missing", comparison.missing),
        ("choose it for", "; ".join(comparison.use_cases)),
        ("origin", ", also named ".join((formula.origin, *formula.aliases))),
        (
            "on",
            "by default" if formula.is_default else f"where configured: scorers: {{{formula.configuration}}}",
        ),
    ):
        table.add_row(show(name, "bold"), show(text))
    return table


def _list_bands(formula: Formula) -> Table:
    table = make_table("raw score", "reads as")
    for edge, words in list_readings(formula.bands):
        table.add_row(show(edge), show(words))
    return table


def list_readings(bands: Sequence[Band]) -> list[tuple[str, str]]:
    """Which raw scores each band holds, and how they read; of the lowest one where it ends."""
    return [
        (_show_edge(band, above=bands[place - 1] if place else None), band.words)
        for place, band in enumerate(bands)
    ]


def _show_edge(band: Band, *, above: Band | None) -> str:
    if not band.is_edge_included:
        return f"> {band.lower:g}"
    if band.lower == 0 and above is not None and above.is_edge_included:
        return f"below {above.lower:g}"
    return f">= {band.lower:g}" if band.lower not in {0.0, 1.0} else f"{band.lower:g}"


def _list_options(formula: Formula) -> Table:
    table = make_table("option", "default", "meaning")
    for option in formula.options:
        table.add_row(show(option.name), show(str(show_default(option.default))), show(option.meaning))
    return table


def _list_remedies(formula: Formula) -> Table:
    table = make_table("when", "look at", "try")
    for remedy in formula.remedies:
        table.add_row(*(show(name_quoted(text)) for text in (remedy.sign, remedy.evidence, remedy.action)))
    return table


def show_default(value: object) -> object:
    """An option's default as a JSON value."""
    from dataclasses import asdict, is_dataclass  # noqa: PLC0415 - beside its only use

    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)
