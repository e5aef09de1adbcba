"""A fall that was told, for people: how far, how sure, since when, where, and what was done about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.page.fall_charts import draw_course, draw_drop
from ragsonde.page.fall_facts import list_facts
from ragsonde.page.fall_figures import list_figures
from ragsonde.page.fall_life import Step, list_commands, list_steps, say_standing
from ragsonde.page.fall_spreads import list_spreads
from ragsonde.page.links import link_fall, link_list, link_place, link_trace
from ragsonde.page.scorer_cards import Linked
from ragsonde.page.stream_marks import find_scale, name_scorer
from ragsonde.page.wording import say_age, say_drop, say_moment, say_place, say_score, say_since
from ragsonde.regression.fall_wording import say_fall
from ragsonde_schemas.stream_labels import judge_label, scorer_label
from ragsonde_schemas.told_explanation import read_explanation
from ragsonde_schemas.watched import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup

    from ragsonde.page.fall_charts import Course
    from ragsonde.page.fall_facts import Fact
    from ragsonde.page.fall_spreads import SpreadView
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.told_explanation import ToldExplanation
    from ragsonde_schemas.watched_fall import Fall, FallDetail, MeanPoint

_CHANGED = {
    "release": "release",
    "stream": "version, judge or model of this scorer",
}


class FallLine(NamedTuple):
    """A fall in a list: its sentence, where it leads, how it stands, and of which place it is."""

    words: str
    link: str
    standing: str
    tone: str
    place: str


class WorstTrace(NamedTuple):
    """One of the lowest scores of a fall, with where the trace is shown."""

    trace_id: str
    link: str
    value: str
    at: str


class PointLine(NamedTuple):
    """One mean, as text; its number of scores leads to those of its day."""

    start: str
    mean: str
    scores: Linked


@dataclass(frozen=True, kw_only=True)
class FallView:
    """Everything that is known of a fall.

    Attributes:
        title, sentence: what fell, and the same with numbers.
        picture: how far it fell; '' where that is not known.
        figures: words and values.
        facts: what else changed with it, or might explain it.
        strata: kind of traces, how far these fell, how many they are.
        changes: what was new near its beginning: kind, name, when.
        steps: of its life.
        commands: to steer it, each with what it does.
        course: the means around its beginning; None where none is kept any more.
        step: how long each mean is.
        spreads: scores by tenths, before and since.
    """

    number: int
    title: str
    sentence: str
    tone: str
    place: Linked
    scorer: str
    picture: Markup | str
    figures: tuple[tuple[str, str], ...]
    facts: tuple[Fact, ...]
    strata: tuple[tuple[str, str, str], ...]
    traces: tuple[WorstTrace, ...]
    changes: tuple[tuple[str, str, str], ...]
    steps: tuple[Step, ...]
    commands: tuple[tuple[str, str], ...]
    course: Course | None
    step: str
    spreads: tuple[SpreadView, ...]
    points: tuple[PointLine, ...]


def describe_line(fall: Fall, scorers: Mapping[str, Scorer], *, now: datetime) -> FallLine:
    """A fall in a line of a list."""
    standing, tone = say_standing(fall)
    return FallLine(
        words=_say_fall(fall, scorers, now=now),
        link=link_fall(fall.number),
        standing=standing,
        tone=tone,
        place=say_place(_find_place(fall)),
    )


def view_fall(detail: FallDetail, scorers: Mapping[str, Scorer], *, now: datetime) -> FallView:
    """Everything that is known of a fall.

    Args:
        detail: as read.
        scorers: the configured ones, by instance name.
        now: what ages are reckoned from.
    """
    fall = detail.fall
    told, stream, place = read_explanation(fall.explanation), fall.stream, _find_place(fall)
    scale = find_scale(scorers, stream.scorer)
    named = f"{scorer_label(stream.scorer, stream.version)} by {_say_judge(fall)}"
    standing, tone = say_standing(fall)
    step = timedelta(seconds=detail.step_seconds)
    return FallView(
        number=fall.number,
        title=f"{name_scorer(stream, scorers)} fell",
        sentence=f"{_say_fall(fall, scorers, now=now)} UTC: {standing}",
        tone=tone,
        place=Linked(say_place(place), link_place(place)),
        scorer=named,
        picture=_draw(told, scale=scale),
        figures=list_figures(detail, told, scale=scale, now=now),
        facts=list_facts(fall.explanation, scale=scale),
        strata=tuple((one.stratum, say_drop(one.drop * scale), f"{one.n:,}") for one in told.worst_strata),
        traces=tuple(_list_traces(fall, told, scale=scale)),
        changes=tuple(_list_changes(told, since=fall.since)),
        steps=tuple(list_steps(fall, scale=scale, now=now)),
        commands=list_commands(fall),
        course=draw_course(
            detail.points,
            step=step,
            since=fall.since,
            baseline=told.baseline_mean,
            scale=scale,
            name=named,
        ),
        step=_say_step(step),
        spreads=list_spreads(detail, name=named, now=now),
        points=tuple(_list_point(one, fall, scale=scale) for one in detail.points),
    )


def _say_fall(fall: Fall, scorers: Mapping[str, Scorer], *, now: datetime) -> str:
    scale = find_scale(scorers, fall.stream.scorer)
    return say_fall(
        name_scorer(fall.stream, scorers),
        fall.explanation,
        since=say_since(fall.since, now=now),
        write=lambda drop: say_drop(drop * scale),
    )


def _say_judge(fall: Fall) -> str:
    stream = fall.stream
    return judge_label(stream.judge, stream.fingerprint, stream.judge_epoch)


def _find_place(fall: Fall) -> Place:
    return Place(app=fall.stream.app, environment=fall.stream.environment)


def _draw(told: ToldExplanation, *, scale: float) -> Markup | str:
    if told.drop is None or told.drop_lower is None or told.drop_upper is None:
        return ""
    return draw_drop(told.drop, lower=told.drop_lower, upper=told.drop_upper, scale=scale)


def _list_traces(fall: Fall, told: ToldExplanation, *, scale: float) -> list[WorstTrace]:
    stream = fall.stream
    judge = judge_label(stream.judge, stream.fingerprint)  # as a trace's view names who judged it
    return [
        WorstTrace(
            one.trace_id,
            link_trace(one.trace_id, app=stream.app, judge=judge),
            say_score(one.raw * scale),
            _say_stored(one.occurred_at),
        )
        for one in told.traces
    ]


def _list_changes(told: ToldExplanation, *, since: datetime) -> list[tuple[str, str, str]]:
    return [
        (_CHANGED.get(one.kind, one.kind), one.name, _say_distance(one.at, since=since))
        for one in told.changes
    ]


def _say_distance(stored: str, *, since: datetime) -> str:
    """`20 min before the fall`, from a moment as JSON has it."""
    moment = _read_moment(stored)
    if moment is None:
        return stored
    if abs(moment - since) < timedelta(minutes=5):
        return "as the fall began"
    if moment < since:
        return say_age(moment, now=since).replace(" ago", " before the fall")
    return say_age(since, now=moment).replace(" ago", " after it began")


def _read_moment(stored: str) -> datetime | None:
    """A moment as it is kept in JSON; None of what is none."""
    try:
        return datetime.fromisoformat(stored)
    except ValueError:
        return None


def _say_stored(stored: str) -> str:
    moment = _read_moment(stored)
    return "" if moment is None else say_moment(moment)


def _say_step(step: timedelta) -> str:
    hours = int(step / timedelta(hours=1))
    return {1: "hour", 24: "day (UTC)"}.get(hours, f"{hours} hours")


def _list_point(one: MeanPoint, fall: Fall, *, scale: float) -> PointLine:
    stream = fall.stream
    link = link_list(
        _find_place(fall),
        judge=stream.judge,
        scorer=stream.scorer,
        version=stream.version,
        fingerprint=stream.fingerprint,
        epoch=stream.judge_epoch,
        scored=True,
        day=one.start.date(),
    )
    return PointLine(f"{one.start:%b %d, %H:%M}", say_score(one.mean * scale), Linked(f"{one.n:,}", link))
