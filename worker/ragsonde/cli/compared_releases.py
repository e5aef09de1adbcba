"""Two releases beside each other: as an object for scripts, as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.cli.terminal import make_console, make_table, show
from ragsonde.regression.release_comparison import Verdict
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde.cli.release_looks import ComparedPair, ReleaseLook

WORDS = {Verdict.NOT_WORSE: "not worse", Verdict.WORSE: "worse", Verdict.UNDECIDED: "not known yet"}
STYLES = {Verdict.NOT_WORSE: "green", Verdict.WORSE: "bold red", Verdict.UNDECIDED: "yellow"}
_NUMBERS = ("drop", "old", "new", "needed")


def describe_look(look: ReleaseLook, *, smallest_drop: float) -> dict[str, Any]:
    """A look for scripts; `drop` and its interval are null where nothing was compared.

    Args:
        look: to be described.
        smallest_drop: that it was made with.
    """
    rivals = look.rivals
    return {
        "app": show_app(rivals.app),
        "environment": look.environment,
        "by": rivals.kind.value,
        "new": rivals.new,
        "against": rivals.old,
        "since": rivals.since.isoformat(),
        "until": rivals.until.isoformat(),
        "smallest_drop": smallest_drop,
        "alpha": look.alpha,
        "verdict": look.verdict.value,
        "comparisons": [_describe_pair(pair) for pair in look.pairs],
    }


def print_look(look: ReleaseLook) -> None:
    """A look for people: a line for each scorer and judge, how and why, and the verdict."""
    console = make_console()
    rivals = look.rivals
    if look.pairs:
        table = make_table("scorer", "judge", "verdict", *_NUMBERS, right=_NUMBERS, gap=2)
        for pair in look.pairs:
            table.add_row(*_list_cells(pair))
        console.print(table)
        for why, names in _group_reasons(look.pairs).items():
            console.print(show(f"{', '.join(names)}: {why}", "dim"))
    else:
        console.print(show("neither release has a score yet"))
    place = f"{show_app(rivals.app)}{f', {look.environment}' if look.environment else ''}"
    console.print(
        show(
            f"{place}: {rivals.kind.value} {rivals.new} against {rivals.old}: {WORDS[look.verdict]}",
            STYLES[look.verdict],
        )
    )


def tell_progress(look: ReleaseLook) -> str:
    """One line while it is waited: what is not known yet, and how much is missing."""
    open_pairs = [pair for pair in look.pairs if pair.gated.comparison.verdict is Verdict.UNDECIDED]
    if not open_pairs:
        return "no score of either release yet"
    return "not known yet: " + "; ".join(
        f"{pair.scorer} by {pair.judge}, {pair.gated.comparison.traces_new:,} traces, {show_needed(pair)}"
        for pair in open_pairs
    )


def show_needed(pair: ComparedPair) -> str:
    """About how many traces of the new release are missing, in words; empty with a verdict."""
    comparison = pair.gated.comparison
    if comparison.verdict is not Verdict.UNDECIDED:
        return ""
    if comparison.traces_needed is None:
        return "not known"
    return f"{comparison.traces_needed:,} more"


def _list_cells(pair: ComparedPair) -> tuple[Any, ...]:
    comparison, model = pair.gated.comparison, pair.gated.model
    drop = ""
    if pair.gated.has_drop:
        drop = f"{comparison.drop:.3f} ({comparison.drop_lower:.3f} to {comparison.drop_upper:.3f})"
    return (
        show(scorer_label(pair.scorer, model.version) if model else pair.scorer),
        show(judge_label(pair.judge, model.fingerprint, model.epoch) if model else pair.judge),
        show(WORDS[comparison.verdict], STYLES[comparison.verdict]),
        drop,
        f"{comparison.traces_old:,}",
        f"{comparison.traces_new:,}",
        show_needed(pair),
    )


def _group_reasons(pairs: Iterable[ComparedPair]) -> dict[str, list[str]]:
    """Scorers and judges by how and why they were compared: most are alike."""
    reasons: dict[str, list[str]] = {}
    for pair in pairs:
        way = f"{pair.gated.way.value.replace('_', ' ')}, as " if pair.gated.way else ""
        reasons.setdefault(f"{way}{pair.gated.why}", []).append(f"{pair.scorer} by {pair.judge}")
    return reasons


def _describe_pair(pair: ComparedPair) -> dict[str, Any]:
    gated, comparison = pair.gated, pair.gated.comparison
    has_drop = gated.has_drop
    return {
        "scorer": pair.scorer,
        "judge": pair.judge,
        **(gated.model._asdict() if gated.model else {"version": None, "fingerprint": None, "epoch": None}),
        "verdict": comparison.verdict.value,
        "way": gated.way.value if gated.way else None,
        "why": gated.why,
        "drop": round(comparison.drop, 4) if has_drop else None,
        "drop_lower": round(comparison.drop_lower, 4) if has_drop else None,
        "drop_upper": round(comparison.drop_upper, 4) if has_drop else None,
        "traces_old": comparison.traces_old,
        "traces_new": comparison.traces_new,
        "traces_needed": comparison.traces_needed,
    }
