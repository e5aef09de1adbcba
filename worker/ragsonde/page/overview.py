"""The overview: the state of one application and environment, and of the others in a line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.page.charts import draw_bar, draw_trend
from ragsonde.page.wording import find_interval, say_age, say_place, say_share
from ragsonde.scoring.bands import find_band
from ragsonde_schemas.evaluation import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from markupsafe import Markup

    from ragsonde.scoring.formula import Remedy
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.watched import LedgerSummary, PlaceActivity, PlaceSummary, ScorerSummary, Spending

_SCORED = EvaluationState.SCORED
_WAITING = (EvaluationState.WAITING, EvaluationState.RUNNING)


@dataclass(frozen=True, kw_only=True)
class PlaceLine:
    """One place among the others."""

    place: PlaceActivity
    name: str
    age: str
    is_shown: bool


@dataclass(frozen=True, kw_only=True)
class ScorerCard:
    """One scorer under one judge.

    Attributes:
        value, interval: on the scorer's scale, as text; '' where there is none.
        band: how the mean reads; '' for scorers that are compared with their own past.
        unscored: cause and number, the commonest first.
    """

    name: str
    scorer: str
    judge: str
    value: str
    interval: str
    band: str
    tone: str
    n: int
    below: str
    unscored: tuple[tuple[str, int], ...]
    question: str
    remedies: tuple[Remedy, ...]
    trend: Markup
    summary: ScorerSummary


@dataclass(frozen=True, kw_only=True)
class SpendingLine:
    """What a judge has spent of one limit."""

    judge: str
    text: str
    bar: Markup


def list_places(
    places: Sequence[PlaceActivity], *, shown: PlaceActivity | None, now: datetime
) -> tuple[PlaceLine, ...]:
    """A line for each place."""
    return tuple(
        PlaceLine(
            place=one,
            name=say_place(one.place),
            age=say_age(one.last_admitted_at, now=now),
            is_shown=shown is not None and one.place == shown.place,
        )
        for one in places
    )


def list_cards(summary: PlaceSummary, scorers: Mapping[str, Scorer]) -> tuple[ScorerCard, ...]:
    """A card for each scorer and judge that said anything."""
    return tuple(_make_card(one, scorers.get(one.instance)) for one in summary.scorers)


def list_states(ledger: LedgerSummary) -> tuple[EvaluationState, ...]:
    """The states in which any evaluation stands."""
    return tuple(
        state for state in EvaluationState if any(states.get(state) for states in ledger.judges.values())
    )


def list_spending(spending: Sequence[Spending]) -> Iterator[SpendingLine]:
    """A line for each limit of each judge."""
    for one in spending:
        for spent, limit, unit in (
            (one.spent.usd, one.limit.usd, "$"),
            (one.spent.calls, one.limit.calls, "calls"),
            (one.spent.tokens, one.limit.tokens, "tokens"),
        ):
            if limit is None:
                continue
            what = f"${spent:,.2f} of ${limit:,.2f}" if unit == "$" else f"{spent:,} of {limit:,} {unit}"
            text = f"{what} this {one.limit.period.value}"
            share = spent / limit if limit else 1.0
            yield SpendingLine(judge=one.judge, text=text, bar=draw_bar(share, said=f"{one.judge}: {text}"))


def describe_state(summary: PlaceSummary, ledger: LedgerSummary, *, now: datetime) -> str:
    """One sentence: how many traces, how many of them scored, how fresh."""
    scored = max((states.get(_SCORED, 0) for states in ledger.judges.values()), default=0)
    activity = summary.activity
    age = say_age(activity.last_admitted_at, now=now)
    share = say_share(min(scored, ledger.revisions), ledger.revisions)
    return (
        f"{activity.revisions:,} traces in the last 24 hours, {share} of the app's scored; last trace {age}, "
        f"{summary.waiting:,} waiting."
    )


def _make_card(summary: ScorerSummary, scorer: Scorer | None) -> ScorerCard:
    scale = scorer.scale if scorer is not None else 1.0
    formula = scorer.formula if scorer is not None else None
    has_direction = formula is None or formula.direction.value == "higher"
    value = interval = band = tone = ""
    if summary.mean is not None:
        value = f"{summary.mean * scale:.2f}"
        found = find_interval(summary.mean, deviation=summary.deviation, n=summary.n)
        interval = f"{found[0] * scale:.2f} to {found[1] * scale:.2f}" if found else ""
        if formula is not None and has_direction:
            of_mean = find_band(formula.bands, raw=summary.mean)
            band = of_mean.words.partition(":")[0]
            tone = _choose_tone(formula.bands.index(of_mean), len(formula.bands))
    unscored = sorted(summary.unscored.items(), key=lambda pair: (-pair[1], pair[0].value))
    return ScorerCard(
        name=formula.display_name if formula is not None else summary.instance,
        scorer=summary.scorer,
        judge=summary.judge,
        value=value,
        interval=interval,
        band=band,
        tone=tone,
        n=summary.n,
        below=say_share(summary.below, summary.n) if summary.below is not None else "",
        unscored=tuple((cause.value, number) for cause, number in unscored),
        question=formula.comparison.question if formula is not None else "",
        remedies=formula.remedies if formula is not None else (),
        trend=draw_trend(summary.days, name=summary.scorer),
        summary=summary,
    )


def _choose_tone(place: int, bands: int) -> str:
    """`good`, `fair` or `bad`, by the band's place among the formula's, the highest first."""
    share = place / max(1, bands - 1)
    if share <= 1 / 3:
        return "good"
    return "fair" if share <= 2 / 3 else "bad"
