"""Reads a report from Postgres, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ragsonde.page.links import link_trace
from ragsonde.page.wording import drop_probability, say_name
from ragsonde.reporting.fall_lines import count_budget, list_falls
from ragsonde.reporting.judge_lines import (
    add_costs,
    list_agreements,
    list_changes,
    list_days,
    list_drifts,
    read_costs,
)
from ragsonde.reporting.report import OwnersReport, PlaceReport, Span, WorstTrace
from ragsonde.reporting.scorer_lines import list_judges, list_reasons, list_releases, list_scorers
from ragsonde.storage.parking_store import count_parked_between
from ragsonde.storage.release_means import read_release_means
from ragsonde.storage.span_scores import summarise_span
from ragsonde.storage.watched_counts import count_brought, count_places
from ragsonde.storage.watched_live import Stretch
from ragsonde.storage.watched_lowest import find_lowest
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.watched import Place, find_busiest_judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.reporting.report import JudgeCost
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.storage.costs import DayCost
    from ragsonde.storage.release_means import SeenRelease
    from ragsonde.storage.watched_counts import PlaceCounts
    from ragsonde_schemas.watched import LowTrace, ScorerSummary, ScoreStream

MOST_PLACES = 20
WORST = 5
_PARTS = 5
"""That are told as done beside the days of costs and the places."""


class Wish(NamedTuple):
    """What a report is asked for.

    Attributes:
        app: as it is stored; None: all.
        environment: None: all.
        span: of the report.
        scorers: the configured ones, by instance name.
        comparable: scorers of which less is worse, by name: they tell which traces are the worst.
        free_judge: name of the lexical judge; None: there is none.
        page_days: chance alone pages once in so many days at most.
        page_url, trace_url: where people reach the page, and their tracing tool with `{trace_id}`.
        kept_days: how long scores are kept.
    """

    app: str | None
    environment: str | None
    span: Span
    scorers: Mapping[str, Scorer]
    comparable: Sequence[str]
    free_judge: str | None
    page_days: float
    page_url: str | None
    trace_url: str | None
    kept_days: int


class _Read(NamedTuple):
    """What the places of a report are built of."""

    counts: tuple[PlaceCounts, ...]
    traces_before: dict[Place, int]
    scores: dict[Place, tuple[ScorerSummary, ...]]
    scores_before: dict[Place, tuple[ScorerSummary, ...]]
    releases: dict[Place, tuple[SeenRelease, ...]]


def find_before(span: Span) -> Span:
    """The span of the same length that ends where this one begins."""
    return Span(since=span.since - (span.until - span.since), until=span.since)


def count_steps(span: Span) -> int:
    """How often `gather` tells that it is further, at most."""
    return _PARTS + len(list_days(span)) + MOST_PLACES


def gather(engine: Engine, wish: Wish, *, now: datetime, step: Callable[[], None]) -> OwnersReport:
    """The whole report.

    Args:
        engine: of this process.
        wish: what is asked for.
        now: of the same clock as the stores'.
        step: called whenever a part is done.

    Raises:
        DatabaseLostError: Postgres is away.
        GivenUpError: a part took too long.
    """
    read = _read_places(engine, wish, now=now, step=step)
    meant = [one for one in read.counts if _is_meant(one.activity.place, wish)]
    places = []
    for one in meant[:MOST_PLACES]:
        places.append(_build_place(engine, one, read, wish))
        step()
    costs = _read_costs(engine, wish, step=step)
    before = find_before(wish.span)
    parked = count_parked_between(engine, since=wish.span.since, until=wish.span.until)
    report = OwnersReport(
        app=None if wish.app is None else show_app(wish.app),
        environment=wish.environment,
        span=wish.span,
        before=before,
        made_at=now,
        places=tuple(places),
        more_places=max(0, len(meant) - MOST_PLACES),
        parked=list_reasons((say_name(reason.value), n) for reason, n in parked.items()),
        brought=count_brought(engine, Stretch(wish.span.since, wish.span.until)),
        kept_days=wish.kept_days if (now - before.since).days >= wish.kept_days else None,
        costs=costs,
        **_read_falls(engine, wish, now=now),
        **_read_judges(engine, wish, read),
    )
    step()
    return report


def _read_costs(engine: Engine, wish: Wish, *, step: Callable[[], None]) -> tuple[JudgeCost, ...]:
    days: list[DayCost] = []
    for costs in read_costs(engine, wish.span, app=wish.app):
        days += costs
        step()
    return add_costs(days)


def _read_falls(engine: Engine, wish: Wish, *, now: datetime) -> dict[str, Any]:
    of_place = {"app": wish.app, "environment": wish.environment}
    falls, more = list_falls(engine, wish.span, **of_place, scorers=wish.scorers, page_url=wish.page_url)
    pages = count_budget(engine, **of_place, now=now, page_days=wish.page_days)
    return {"falls": falls, "more_falls": more, "pages": pages}


def _read_judges(engine: Engine, wish: Wish, read: _Read) -> dict[str, Any]:
    streams = _list_streams(read.scores, wish)
    before = _list_streams(read.scores_before, wish)
    return {
        "changes": list_changes(engine, wish.span, now=streams, before=before),
        "drifts": list_drifts(engine, app=wish.app),
        "agreements": list_agreements(engine, wish.span, streams=streams, free=wish.free_judge, app=wish.app),
    }


def _read_places(engine: Engine, wish: Wish, *, now: datetime, step: Callable[[], None]) -> _Read:
    span, before = Stretch(*_bounds(wish.span)), Stretch(*_bounds(find_before(wish.span)))
    counts = count_places(engine, span)
    step()
    traces_before = {one.activity.place: one.activity.traces for one in count_places(engine, before)}
    step()
    scores = summarise_span(engine, span, now=now)
    step()
    scores_before = summarise_span(engine, before, now=now)
    step()
    releases = read_release_means(engine, span).places
    return _Read(counts, traces_before, scores, scores_before, releases)


def _build_place(engine: Engine, counts: PlaceCounts, read: _Read, wish: Wish) -> PlaceReport:
    place = counts.activity.place
    summaries = read.scores.get(place, ())
    releases, more = list_releases(read.releases.get(place, ()), wish.scorers)
    lowest = find_lowest(
        engine,
        place,
        Stretch(*_bounds(wish.span)),
        judge=find_busiest_judge(summaries),
        scorers=wish.comparable,
        most=WORST,
    )
    return PlaceReport(
        app=show_app(place.app),
        environment=place.environment,
        traces=counts.activity.traces,
        traces_before=read.traces_before.get(place, 0),
        judges=list_judges(counts.judges),
        scorers=list_scorers(summaries, read.scores_before.get(place, ()), wish.scorers),
        releases=releases,
        more_releases=more,
        worst=tuple(_build_worst(one, wish) for one in lowest),
    )


def _build_worst(low: LowTrace, wish: Wish) -> WorstTrace:
    link = ""
    if wish.page_url is not None:
        link = wish.page_url.rstrip("/") + link_trace(low.trace_id, app=low.app, judge=low.judge)
    elif wish.trace_url is not None:
        link = wish.trace_url.replace("{trace_id}", quote(low.trace_id, safe=""))
    return WorstTrace(
        trace_id=low.trace_id,
        scorer=low.scorer,
        judge=low.judge,
        raw=low.raw,
        reason=drop_probability(low.reason),
        occurred_at=low.occurred_at,
        link=link,
    )


def _is_meant(place: Place, wish: Wish) -> bool:
    return wish.app in {None, place.app} and wish.environment in {None, place.environment}


def _list_streams(scores: Mapping[Place, Sequence[ScorerSummary]], wish: Wish) -> set[ScoreStream]:
    return {one.stream for place, found in scores.items() if _is_meant(place, wish) for one in found}


def _bounds(span: Span) -> tuple[datetime, datetime]:
    return span.since, span.until
