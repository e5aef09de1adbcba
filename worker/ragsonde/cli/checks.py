"""What a run must reach, and whether it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.cli.terminal import count_traces
from ragsonde.scoring.options import suggest
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragsonde.api.report import Report
    from ragsonde.cli.asserted_thresholds import AssertedThresholds
    from ragsonde.scoring.scorer import Scorer

NOTHING_SCORED = "no trace was scored"
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

    def __str__(self) -> str:
        word = "met" if self.is_met else "NOT MET"
        return f"{word}: {self.demand}; found {self.found}"


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What a run must reach.

    Attributes:
        means: lowest mean raw score by scorer instance.
        has_each: every trace must reach its thresholds.
        max_unscored: how many traces may lack a score, None for any number.
        thresholds: lowest raw score of each trace by scorer instance.
        asserted: those of single traces, which hold before.
    """

    means: dict[str, float]
    has_each: bool
    max_unscored: int | None
    thresholds: Mapping[str, float]
    asserted: AssertedThresholds

    def __bool__(self) -> bool:
        """True when anything is demanded."""
        return bool(self.means) or self.has_each or self.max_unscored is not None

    def check(self, report: Report) -> list[Check]:
        """Each demand with what was found; where nothing was scored none is met."""
        return list(self._check(report))

    def _check(self, report: Report) -> Iterator[Check]:
        for scorer, lowest in self.means.items():
            summary = report.scores[scorer]
            demand = f"mean of {scorer} >= {lowest:g}"
            if summary.mean is None:
                yield Check(demand, NOTHING_SCORED, is_met=False)
            else:
                found = f"{summary.mean:.4f} over {count_traces(summary.n)}"
                yield Check(demand, found, is_met=summary.mean >= lowest)
        if self.has_each:
            yield self._check_each(report)
        if self.max_unscored is not None:
            lacking = [item.trace.trace_id for item in report.items if not item.is_wholly_scored]
            found = f"{len(lacking)}{_name(lacking)}"
            if not report.has_score:
                found = f"{found}: {NOTHING_SCORED}"
            demand = f"traces without every score <= {self.max_unscored}"
            yield Check(demand, found, is_met=report.has_score and len(lacking) <= self.max_unscored)

    def _check_each(self, report: Report) -> Check:
        below: list[str] = []
        is_any_held = False
        for item in report.items:
            trace_id = item.trace.trace_id
            for score in item.outcomes:
                lowest = self._find_threshold(trace_id, scorer=score.scorer)
                if lowest is None or not isinstance(score, Score):
                    continue
                is_any_held = True
                if score.raw < lowest:
                    below.append(f"{trace_id} ({score.scorer} {score.raw:g} < {lowest:g})")
        found = f"{len(below)} below{_name(below)}" if is_any_held else "no trace that has one was scored"
        return Check("every trace reaches its thresholds", found, is_met=is_any_held and not below)

    def _find_threshold(self, trace_id: str, *, scorer: str) -> float | None:
        asserted = self.asserted.find(trace_id, scorer=scorer)
        return self.thresholds.get(scorer) if asserted is None else asserted


def read_demands(
    fail_under: Sequence[str],
    *,
    has_each: bool,
    max_unscored: int | None,
    scorers: Sequence[Scorer],
    asserted: AssertedThresholds,
) -> Demands:
    """The demands as they are given on the command line.

    Raises:
        InputError: a scorer that is not run, a value that is no number from 0 to 1, or no threshold to check.
    """
    names = [scorer.instance for scorer in scorers]
    means: dict[str, float] = {}
    for text in fail_under:
        scorer, lowest = _read_mean(text, names=names)
        if scorer in means:
            raise InputError(f"--fail-under {text}: {scorer} has {means[scorer]:g} already; expected it once")
        means[scorer] = lowest
    thresholds = {scorer.instance: scorer.threshold for scorer in scorers if scorer.threshold is not None}
    if has_each and not thresholds and not asserted:
        raise InputError(
            "--fail-each: no scorer that is run has a threshold; set one in ragsonde.yaml, "
            f"for example scorers: {{{names[0]}: {{threshold: 0.5}}}}"
        )
    return Demands(
        means=means, has_each=has_each, max_unscored=max_unscored, thresholds=thresholds, asserted=asserted
    )


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


def _name(traces: Sequence[str]) -> str:
    if not traces:
        return ""
    more = f" and {len(traces) - _SHOWN_TRACES} more" if len(traces) > _SHOWN_TRACES else ""
    return f": {', '.join(traces[:_SHOWN_TRACES])}{more}"
