"""Streams of made-up scores that are as awkward as real ones, and whose truth is known.

The distributions are those of the project's study of score streams (scenarios "iid" to "full"): values pile
up on 0, 1 and small fractions; traces come in sessions that share a topic and an effect; topics differ in
level; day, night and weekend differ in traffic and in topics; the whole stream wanders a little by hour and
by day; the judge errs at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DAY, HOUR = 86_400.0, 3_600.0
PERFECT, ZERO, PART = np.array([[0.78, 0.66, 0.55, 0.32], [0.02, 0.05, 0.08, 0.18], [0.75, 0.70, 0.66, 0.60]])
"""By topic: how often a score is 1, how often 0, and the mean of the fractions in between."""
BY_DAY, BY_NIGHT = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.25, 0.25, 0.25, 0.25])
BROKEN = (0.10, 0.40, 0.50)
SESSION_TRACES, SESSION_GAP, SESSION_EFFECT = 3.0, 60.0, 0.10
UNBROKEN_MEAN = 0.80
"""A drop of d breaks d / (.80 - mean of broken scores) of the traces."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """What makes a stream awkward."""

    has_sessions: bool = True
    has_nights: bool = True
    hour_spread: float = 0.010
    day_spread: float = 0.005
    judge_noise: float = 0.03


FULL = Scenario()
INDEPENDENT = Scenario(has_sessions=False, has_nights=False, hour_spread=0.0, day_spread=0.0, judge_noise=0.0)


@dataclass(frozen=True, slots=True)
class Change:
    """What goes wrong: `drop` from `start` until `end`, harder topics if `is_mix` is set, or a slow decay."""

    start: float
    drop: float = 0.0
    end: float = np.inf
    is_mix: bool = False
    drop_a_day: float = 0.0


@dataclass(frozen=True, slots=True)
class Stream:
    """Traces in the order of time: moments in seconds, topics 0 to 3, scores, numbers of sessions."""

    seconds: Floats
    topic: NDArray[np.int64]
    score: Floats
    session: NDArray[np.int64]


def draw_scores(random: Generator, perfect: Floats, zero: Floats, part: Floats) -> Floats:
    """One score for each entry: 1 or 0 with those probabilities, else a fraction of 2 to 8."""
    size = perfect.size
    of = random.integers(2, 9, size)
    scores = random.binomial(of, part) / of
    place = random.random(size)
    return np.where(place < perfect, 1.0, np.where(place > 1 - zero, 0.0, scores))


def _expect(perfect: Floats, zero: Floats, part: Floats) -> Floats:
    return perfect + (1 - perfect - zero) * part


MEANS = _expect(PERFECT, ZERO, PART)
BROKEN_MEAN = float(_expect(*(np.array(value) for value in BROKEN)))
DAY_MEAN = float(BY_DAY @ MEANS)


def draw_stream(
    random: Generator,
    days: float,
    per_minute: float,
    *,
    scenario: Scenario = FULL,
    change: Change | None = None,
) -> Stream:
    """A stream from second 0, a Monday at midnight, over so many days."""
    starts, seconds, session = _draw_arrivals(random, days, per_minute, scenario)
    topic_of = _draw_topics(random, starts, scenario, change)
    order = np.argsort(seconds, kind="stable")
    order = order[seconds[order] < days * DAY]
    seconds, session = seconds[order], session[order]
    topic = topic_of[session]
    score = draw_scores(random, PERFECT[topic], ZERO[topic], PART[topic])
    shift = _draw_wander(random, days, seconds, scenario)
    if scenario.has_sessions:
        shift += random.normal(0.0, SESSION_EFFECT, starts.size)[session]
    score = _shift_scores(random, score, shift)
    is_misjudged = random.random(seconds.size) < scenario.judge_noise
    score = np.where(is_misjudged, random.integers(0, 5, seconds.size) / 4, score)
    if change is not None and change.drop > 0:
        score = break_scores(random, score, (seconds >= change.start) & (seconds < change.end), change.drop)
    if change is not None and change.drop_a_day > 0:
        fallen = np.maximum(seconds - change.start, 0) / DAY * change.drop_a_day
        score = break_scores(random, score, seconds >= change.start, fallen)
    return Stream(seconds, topic, score, session)


def break_scores(random: Generator, score: Floats, where: NDArray[np.bool_], drop: float | Floats) -> Floats:
    """The scores, `drop` lower on average where `where` is true."""
    is_broken = where & (random.random(score.size) < drop / (UNBROKEN_MEAN - BROKEN_MEAN))
    return np.where(is_broken, _draw_broken(random, score.size), score)


def nightness(seconds: Floats) -> Floats:
    """1 at three in the morning, 0 at three in the afternoon."""
    return 0.5 * (1 + np.cos((seconds / HOUR % 24 - 3) / 24 * 2 * np.pi))


def _is_weekend(seconds: Floats) -> Floats:
    return (seconds / DAY % 7 >= 5).astype(float)


def _draw_arrivals(
    random: Generator, days: float, per_minute: float, scenario: Scenario
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """When sessions start; of each trace when it comes and which session it is of."""
    length = SESSION_TRACES if scenario.has_sessions else 1.0
    sessions = int(random.poisson(days * 1440 * per_minute / length))
    starts = random.random(sessions) * days * DAY
    if scenario.has_nights:
        grid = np.arange(0.0, days * DAY, 300.0)
        traffic = (1.65 - 1.35 * nightness(grid + 150)) * (1 - 0.35 * _is_weekend(grid + 150))
        share = np.concatenate([[0.0], np.cumsum(traffic)]) / traffic.sum()
        starts = np.interp(random.random(sessions), share, np.append(grid, days * DAY))
    if not scenario.has_sessions:
        return starts, starts, np.arange(sessions)
    lengths = random.geometric(1 / length, sessions)
    session = np.repeat(np.arange(sessions), lengths)
    gaps = random.exponential(SESSION_GAP, session.size)
    firsts = np.cumsum(lengths) - lengths
    gaps[firsts] = 0.0
    elapsed = np.cumsum(gaps)
    return starts, starts[session] + elapsed - elapsed[firsts][session], session


def _draw_topics(
    random: Generator, starts: Floats, scenario: Scenario, change: Change | None
) -> NDArray[np.int64]:
    """A topic for each session."""
    night = nightness(starts) + 0.4 * _is_weekend(starts) if scenario.has_nights else np.zeros(starts.size)
    night = np.clip(night, 0, 1)[:, None]
    mix = BY_DAY * (1 - night) + BY_NIGHT * night
    if change is not None and change.is_mix:
        harder = mix * [0.6, 0.8, 1.0, 1.0]
        harder[:, 3] += 1 - harder.sum(axis=1)
        mix = np.where((starts > change.start)[:, None], harder, mix)
    topic = (random.random(starts.size)[:, None] > np.cumsum(mix, axis=1)).sum(axis=1)
    return np.minimum(topic, 3).astype(np.int64)


def _draw_wander(random: Generator, days: float, seconds: Floats, scenario: Scenario) -> Floats:
    """How far the whole stream is off its level at each trace: by hour, each like the last, and by day."""
    hours = int(days * 24) + 1
    steps = random.normal(0.0, scenario.hour_spread * 0.6, hours)
    wander = np.empty(hours)
    wander[0] = random.normal(0.0, scenario.hour_spread)
    for hour in range(1, hours):
        wander[hour] = 0.8 * wander[hour - 1] + steps[hour]
    of_day = random.normal(0.0, scenario.day_spread, int(days) + 1)
    shift: Floats = wander[(seconds / HOUR).astype(int)] + of_day[(seconds / DAY).astype(int)]
    return shift


def _shift_scores(random: Generator, score: Floats, shift: Floats) -> Floats:
    """The scores moved by `shift` on average: some broken where it is below 0, some perfect where above."""
    place = random.random(score.size)
    lower = np.where(place < -shift / (DAY_MEAN - BROKEN_MEAN), _draw_broken(random, score.size), score)
    return np.where(place < shift / (1 - DAY_MEAN), 1.0, lower)


def _draw_broken(random: Generator, size: int) -> Floats:
    return draw_scores(random, *(np.full(size, value) for value in BROKEN))
