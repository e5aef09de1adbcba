"""What the scorers say of a place, a card for each scorer and each model that answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.page.charts import BinLink, draw_histogram, draw_trend
from ragsonde.page.links import link_list, name_stream
from ragsonde.page.stream_marks import find_mark
from ragsonde.page.wording import say_name, say_part, say_score, say_share
from ragsonde.scoring.bands import find_band
from ragsonde.scoring.meanings import CAUSES
from ragsonde.scoring.student import find_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from markupsafe import Markup

    from ragsonde.page.stream_marks import Mark
    from ragsonde.scoring.formula import Remedy
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.watched import Place, ScorerSummary
    from ragsonde_schemas.watched_fall import StreamWatch

TOO_FEW = "too few to tell where the mean of such traces lies"


class Linked(NamedTuple):
    """Words and where they lead."""

    words: str
    link: str


class DayLine(NamedTuple):
    """One day's mean, on the scorer's scale."""

    day: str
    mean: str
    scores: Linked


@dataclass(frozen=True, kw_only=True)
class ScorerCard:
    """One scorer under one judge.

    Attributes:
        value, interval: on the scorer's scale, as text; '' where there is none.
        band: how the mean reads; '' for scorers that are compared with their own past.
        part: which part of the scores was looked at, '' for all.
        outcome_part: the same for the threshold and what is not scored, where that is less.
        unscored: cause and number, the commonest first.
        lowest: the traces in the lowest tenth that has any; '' where nothing is scored.
        mark: whether it fell; None where nothing is known of that yet.
    """

    name: str
    scorer: str
    judge: str
    value: str
    interval: str
    band: str
    tone: str
    n: Linked
    part: str
    outcome_part: str
    below: Linked | None
    unscored: tuple[Linked, ...]
    question: str
    remedies: tuple[Remedy, ...]
    lowest: str
    trend: Markup
    histogram: Markup
    days: tuple[DayLine, ...]
    mark: Mark | None = None


def list_cards(
    summaries: Sequence[ScorerSummary],
    scorers: Mapping[str, Scorer],
    *,
    place: Place,
    until: date,
    streams: Sequence[StreamWatch] = (),
) -> tuple[ScorerCard, ...]:
    """A card for each scorer and judge that said anything, those with an open fall first.

    Args:
        summaries: what they said.
        scorers: the configured ones, by instance name.
        place: whose.
        until: the day that trends end with.
        streams: of the place, as they are watched for falls.
    """
    cards = [
        replace(
            _make_card(one, scorers.get(one.stream.scorer), place=place, until=until),
            mark=find_mark(streams, one.stream, scorers=scorers),
        )
        for one in summaries
    ]
    return tuple(sorted(cards, key=_rank))


def _rank(card: ScorerCard) -> int:
    """What fell stands first, then what may have fallen; else they stay as they are."""
    if card.mark is None or not card.mark.link:
        return 2
    return 0 if card.mark.tone == "bad" else 1


def draw_bins(summary: ScorerSummary, *, place: Place, recent: bool = True) -> Markup:
    """The histogram of a stream; its bars lead to their traces of the last 24 hours, if those are recent."""
    stream = name_stream(summary.stream)
    bins = [
        BinLink(n, link_list(place, **stream, bin=number) if recent else "")
        for number, n in enumerate(summary.bins)
    ]
    return draw_histogram(bins, name=f"{summary.scorer} by {summary.judge}")


def say_mean(summary: ScorerSummary, scorer: Scorer | None) -> str:
    """The mean on the scorer's scale; '' where nothing is scored."""
    scale = scorer.scale if scorer is not None else 1.0
    return "" if summary.mean is None else say_score(summary.mean * scale)


def say_interval(summary: ScorerSummary, scorer: Scorer | None) -> str:
    """Where the mean of all such traces lies, on the scorer's scale; '' where nothing is scored."""
    if summary.mean is None:
        return ""
    found = find_interval(summary.mean, deviation=summary.deviation, n=summary.n)
    if found is None:
        return TOO_FEW
    scale = scorer.scale if scorer is not None else 1.0
    return f"true mean likely {say_score(found.lower * scale)}-{say_score(found.upper * scale)} (95\u00a0%)"


def _make_card(summary: ScorerSummary, scorer: Scorer | None, *, place: Place, until: date) -> ScorerCard:
    stream = name_stream(summary.stream)
    formula = scorer.formula if scorer is not None else None
    band, tone = _read_band(summary, scorer)
    unscored = sorted(summary.unscored.items(), key=lambda pair: (-pair[1], pair[0].value))
    lowest = next((number for number, n in enumerate(summary.bins) if n), None)
    below = None
    if summary.below is not None:
        link = link_list(place, **stream, below=True)
        below_of = summary.n if summary.below_of is None else summary.below_of
        below = Linked(say_share(summary.below, below_of), link)
    return ScorerCard(
        name=formula.display_name if formula is not None else summary.stream.scorer,
        scorer=summary.scorer,
        judge=summary.judge,
        value=say_mean(summary, scorer),
        interval=say_interval(summary, scorer),
        band=band,
        tone=tone,
        n=Linked(f"{summary.n:,}", link_list(place, **stream, scored=True)),
        part=say_part(summary.share),
        outcome_part=say_part(summary.outcome_share),
        below=below,
        unscored=tuple(
            Linked(
                f"{n:,} {say_name(cause.value)}",
                # a list can be asked for by causes that are known here
                link_list(place, **stream, cause=cause.value) if cause in CAUSES else "",
            )
            for cause, n in unscored
        ),
        question=formula.comparison.question if formula is not None else "",
        remedies=formula.remedies if formula is not None else (),
        lowest=link_list(place, **stream, bin=lowest) if lowest is not None else "",
        trend=draw_trend(summary.days, until=until, name=f"{summary.scorer} by {summary.judge}"),
        histogram=draw_bins(summary, place=place),
        days=_list_days(summary, scorer, place=place),
    )


def _list_days(summary: ScorerSummary, scorer: Scorer | None, *, place: Place) -> tuple[DayLine, ...]:
    scale = scorer.scale if scorer is not None else 1.0
    stream = name_stream(summary.stream)
    return tuple(
        DayLine(
            day=one.day.isoformat(),
            mean=say_score(one.mean * scale),
            scores=Linked(f"{one.n:,}", link_list(place, **stream, scored=True, day=one.day)),
        )
        for one in summary.days
    )


def _read_band(summary: ScorerSummary, scorer: Scorer | None) -> tuple[str, str]:
    """How the mean reads, and `good`, `fair` or `bad` by the band's place among the formula's."""
    formula = scorer.formula if scorer is not None else None
    if summary.mean is None or formula is None or formula.direction.value != "higher":
        return "", ""
    of_mean = find_band(formula.bands, raw=summary.mean)
    share = formula.bands.index(of_mean) / max(1, len(formula.bands) - 1)
    tone = "good" if share <= 1 / 3 else "fair" if share <= 2 / 3 else "bad"
    return of_mean.words.partition(":")[0], tone
