"""What a run must reach, and whether it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.scoring.options import suggest
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragsonde.api.report import Report
    from ragsonde.scoring.scorer import Scorer

_SHOWN_TRACES = 3


class Check(NamedTuple):
    """One demand and what was found.

    Attributes:
        demand: `mean of context_precision >= 0.7`.
        found: `0.6412 over 59 traces`.
    """

    demand: str
    found: str
    is_met: bool


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What a run must reach.

    Attributes:
        means: lowest mean raw score by scorer instance.
        has_each: every trace must reach its scorer's threshold.
        max_unscored: how many traces may lack a score, None for any number.
    """

    means: dict[str, float]
    has_each: bool
    max_unscored: int | None

    def check(self, report: Report) -> list[Check]:
        """Each demand with what was found."""
        return list(self._check(report))

    def _check(self, report: Report) -> Iterator[Check]:
        for scorer, lowest in self.means.items():
            summary = report.scores[scorer]
            demand = f"mean of {scorer} >= {lowest:g}"
            if summary.mean is None:
                yield Check(demand, "no trace was scored", is_met=False)
            else:
                found = f"{summary.mean:.4f} over {summary.n} traces"
                yield Check(demand, found, is_met=summary.mean >= lowest)
        if self.has_each:
            yield _check_each(report)
        if self.max_unscored is not None:
            lacking = [item.trace.trace_id for item in report.items if not item.is_wholly_scored]
            found = f"{len(lacking)}{_name(lacking)}"
            demand = f"traces without every score <= {self.max_unscored}"
            yield Check(demand, found, is_met=len(lacking) <= self.max_unscored)


def read_demands(
    fail_under: Sequence[str], *, has_each: bool, max_unscored: int | None, scorers: Sequence[Scorer]
) -> Demands:
    """The demands as they are given on the command line.

    Raises:
        InputError: a scorer that is not run, a value that is no number from 0 to 1, or no threshold to check.
    """
    names = [scorer.instance for scorer in scorers]
    means = dict(_read_mean(text, names=names) for text in fail_under)
    if has_each and all(scorer.threshold is None for scorer in scorers):
        raise InputError(
            "--fail-each: no scorer that is run has a threshold; set one in ragsonde.yaml, "
            f"for example scorers: {{{names[0]}: {{threshold: 0.5}}}}"
        )
    return Demands(means=means, has_each=has_each, max_unscored=max_unscored)


def _read_mean(text: str, *, names: Sequence[str]) -> tuple[str, float]:
    scorer, separator, number = text.rpartition("=")
    scorer = scorer.strip()
    if not separator:
        raise InputError(f"--fail-under {text}: expected SCORER=V, for example {names[0]}=0.7")
    if scorer not in names:
        nearest = suggest(scorer, valid=names)
        raise InputError(f"--fail-under {text}: {scorer!r} is not run{nearest} (run: {', '.join(names)})")
    try:
        lowest = float(number)
    except ValueError:
        lowest = -1.0
    if not 0 <= lowest <= 1:
        raise InputError(f"--fail-under {text}: found {number!r}, expected a raw score from 0 to 1")
    return scorer, lowest


def _check_each(report: Report) -> Check:
    below = [
        item.trace.trace_id
        for item in report.items
        if any(isinstance(outcome, Score) and outcome.passed is False for outcome in item.outcomes)
    ]
    return Check("every trace reaches its thresholds", f"{len(below)} below{_name(below)}", is_met=not below)


def _name(trace_ids: Sequence[str]) -> str:
    if not trace_ids:
        return ""
    more = f" and {len(trace_ids) - _SHOWN_TRACES} more" if len(trace_ids) > _SHOWN_TRACES else ""
    return f": {', '.join(trace_ids[:_SHOWN_TRACES])}{more}"
