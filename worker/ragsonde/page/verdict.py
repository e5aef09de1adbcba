"""Whether a place is steady, in a sentence: the worst of its streams first, the others counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.page.links import link_fall, link_falls
from ragsonde.page.scorer_cards import Linked
from ragsonde.page.stream_marks import (
    TONES,
    find_scale,
    list_streams,
    name_scorer,
    say_hold,
    say_progress,
    say_state,
)
from ragsonde.page.wording import say_age, say_drop, say_since
from ragsonde.regression.baseline import BASELINE_DAYS, LEAST_PINNED, BaselineKind
from ragsonde.regression.fall_wording import say_chance, say_fall
from ragsonde_schemas.watched_fall import FallState, WaitsFor, WatchState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.watched import Place
    from ragsonde_schemas.watched_fall import FallWatch, StreamWatch

LAGS = timedelta(minutes=20)
"""Blocks of five minutes are closed five minutes after their end, and counted once a minute."""
_ORDER = tuple(WatchState)
_PINNED = f"a baseline is pinned after {BASELINE_DAYS} days and {LEAST_PINNED} traces"
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
NOTHING_COUNTED = (
    "no score of the last day is counted yet: scores are counted five minutes after they occurred, "
    "and watched from a week of them on"
)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How it stands with a place.

    Attributes:
        state: of its worst stream, in a word or two; '' where there is none.
        tone: `good`, `fair`, `bad` or ''.
        words: the sentence without its last full stop.
        link: of the fall that is meant; '' where none is open.
        others: how many streams stand otherwise, with where their falls are listed.
        lag: what is wrong with the judging itself; '' where nothing is.
    """

    state: str
    tone: str
    words: str
    link: str = ""
    others: Linked | None = None
    lag: str = ""


def describe_verdict(
    watch: FallWatch, place: Place, *, scorers: Mapping[str, Scorer], now: datetime
) -> Verdict:
    """The verdict on a place.

    Args:
        watch: of all places.
        place: whose.
        scorers: the configured ones, by instance name.
        now: what ages are reckoned from.
    """
    streams = sorted(list_streams(watch, place), key=_rank)
    lag = _describe_lag(watch, now=now)
    if not streams:
        return Verdict(state="", tone="", words=NOTHING_COUNTED, lag=lag)
    worst = streams[0]
    return Verdict(
        state=say_state(worst.state) + _say_span(streams, now=now),
        tone=TONES.get(worst.state, ""),
        words=_describe(worst, streams, scorers=scorers, now=now),
        link="" if worst.fall is None else link_fall(worst.fall),
        others=_count_others(streams, place),
        lag=lag,
    )


def _rank(one: StreamWatch) -> tuple[int, float, float]:
    """The worst first: by state, then by drop; of those that arm the furthest last."""
    return (_ORDER.index(one.state), -(one.drop or 0.0), one.arming.share if one.arming is not None else 1.0)


def _describe(
    worst: StreamWatch,
    streams: Sequence[StreamWatch],
    *,
    scorers: Mapping[str, Scorer],
    now: datetime,
) -> str:
    name = name_scorer(worst.stream, scorers)
    if len({one.stream.judge for one in streams}) > 1:
        name += f" by {worst.stream.judge}"
    match worst.state:
        case WatchState.FELL:
            return f"{_say_fall(name, worst, scorers, now=now)}, a page" + _say_more(worst)
        case WatchState.SUSPECTED:
            return f"{_say_fall(name, worst, scorers, now=now)}, a warning" + _say_more(worst)
        case WatchState.HELD:
            return f"{name} is not judged now, as {say_hold(worst.hold)}"
        case WatchState.UNWATCHED:
            return f"{name} is not watched: its scores have no room to fall, or vary too much for so few"
        case WatchState.ARMING:
            return f"{_say_arming(worst, now=now)}; until then no fall is told of {name}"
        case WatchState.STEADY:
            return _say_steady(streams, scorers)


def _say_fall(name: str, one: StreamWatch, scorers: Mapping[str, Scorer], *, now: datetime) -> str:
    scale = find_scale(scorers, one.stream.scorer)
    told = one.model_dump(include={"drop", "drop_lower", "drop_upper"})
    since = "its last baseline" if one.since is None else say_since(one.since, now=now)
    return say_fall(name, told, since=since, write=lambda drop: say_drop(drop * scale))


def _say_more(one: StreamWatch) -> str:
    chance = say_chance(one.evidence_days)
    words = "" if chance is None else f": chance alone would show this {chance}"
    return words + ("; somebody knows of it" if one.is_acked else "")


def _say_span(streams: Sequence[StreamWatch], *, now: datetime) -> str:
    """` for 9 days`, since the last fall ended, or where there was none since the first baseline judges."""
    if any(one.state is not WatchState.STEADY for one in streams):
        return ""
    ended = [one.fell_until for one in streams if one.fell_until is not None]
    judged = [one.judged_since for one in streams if one.judged_since is not None]
    if not ended and not judged:
        return ""
    span = now - (max(ended) if ended else min(judged))
    unit, size = ("day", _DAY) if span >= _DAY else ("hour", _HOUR)
    number = span // size
    return f" for {number} {unit}{'' if number == 1 else 's'}" if number > 0 else ""


def _say_arming(one: StreamWatch, *, now: datetime) -> str:
    arming = one.arming
    if arming is None:
        return _PINNED
    share, counted = say_progress(arming), f"{arming.traces:,} of {arming.needed:,}"
    match arming.waits_for:
        case WaitsFor.TRACES:
            traces = f"{arming.traces:,} traces since {say_since(arming.since, now=now)}"
            return f"{share}: {_PINNED} (so far {traces})"
        case WaitsFor.BACKFILL:
            return f"{share}: stored traces are judged to make its baseline, {counted}"
        case WaitsFor.RESCORE:
            return f"{share}: stored verdicts are scored to make its baseline, {counted}"
        case WaitsFor.CHOICE:
            return (
                f"and waits for you: its first {BASELINE_DAYS} days brought {arming.traces:,} traces, of "
                f"{arming.needed:,} that a baseline takes; give it a floor (regression.floors), or pin a "
                "baseline"
            )


def _say_steady(streams: Sequence[StreamWatch], scorers: Mapping[str, Scorer]) -> str:
    words = "no fall of scores is open"
    visible = sorted(
        one.smallest_drop * find_scale(scorers, one.stream.scorer)
        for one in streams
        if one.smallest_drop is not None and one.baseline_kind != BaselineKind.FLOOR
    )
    if visible and say_drop(visible[0]) == say_drop(visible[-1]):
        which = "this baseline" if len(visible) == 1 else "these baselines"
        words += f"; the smallest fall {which} would show is {say_drop(visible[0])}"
    elif visible:
        least, most = say_drop(visible[0]), say_drop(visible[-1])
        words += f"; the smallest fall these baselines would show is {least} to {most}, by scorer"
    if any(one.baseline_kind == BaselineKind.PROVISIONAL for one in streams):
        words += f"; by a provisional baseline, which warns and never pages: {_PINNED}"
    return words


def _count_others(streams: Sequence[StreamWatch], place: Place) -> Linked | None:
    """Of the others what they are; of a place that is steady all are in the sentence."""
    others = Counter(one.state for one in streams[1:])
    if not others or streams[0].state is WatchState.STEADY:
        return None
    counted = ", ".join(f"{others[state]} {say_state(state)}" for state in _ORDER if others[state])
    total = others.total()
    has_falls = others[WatchState.FELL] + others[WatchState.SUSPECTED] > 0
    link = link_falls(place, state=FallState.OPEN.value) if has_falls else ""
    return Linked(f"{total} other {'stream' if total == 1 else 'streams'}: {counted}", link)


def _describe_lag(watch: FallWatch, *, now: datetime) -> str:
    until = watch.judged_until
    if until is None or now - until <= LAGS:
        return ""
    return (
        f"Judging lags: scores are counted and judged only until {say_since(until, now=now)} UTC, "
        f"{say_age(until, now=now)}"
    )
