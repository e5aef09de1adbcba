"""The rows of the acceptance table: what is measured, the bar, and the usual rules on the same streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import river_rules
import usual_rules
from pass_costs import time_pass
from rolling_trials import measure_decay, measure_drops, measure_false_warnings
from score_streams import DAY, draw_stream
from trials import (
    WEEK,
    compare_canary,
    compare_successor,
    count_told,
    detect,
    draw_blip,
    draw_changed,
    draw_mix_shift,
    find_pages,
)
from usual_rules import HourlyFigures

from ragsonde.regression.release_comparison import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray
    from score_streams import Stream

MONTH = 30.0
LATE = 3600.0
"""A rule that fires up to an hour after a blip fired because of it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One change that must be found, and how soon at the median, in traces.

    `more` times as many streams show it: the median of some varies more than it lies from its bar.
    """

    drop: float
    per_minute: float
    days: float
    bar: int
    bar_p90: int | None = None
    since_bar: float | None = None
    more: int = 1


SETTINGS = (
    Setting(drop=0.10, per_minute=10, days=11, bar=1300, bar_p90=2200, since_bar=20),
    Setting(drop=0.10, per_minute=1, days=14, bar=900),
    Setting(drop=0.20, per_minute=1, days=12, bar=200),
    Setting(drop=0.05, per_minute=10, days=14, bar=6000, more=4),
    Setting(drop=0.10, per_minute=60, days=9.5, bar=4500),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many streams each row is of.

    Attributes:
        quiet: stream-months without a change, by traces a minute.
        river: how many of them river's rules see, which take a trace at a time.
        changed: streams of each change; a third of them at one trace a second, `Setting.more` times as many
            where it says so.
        blips: streams with a blip.
        others: streams of each remaining row.
        settings: changes that are looked at: not those whose figure lies near its bar where streams are few.
        releases: whether releases are compared, for the same reason.
        rolling: stream-months without a change before a rolling baseline, by traces a minute.
    """

    quiet: dict[float, int]
    river: dict[float, int]
    changed: int
    blips: int
    others: int
    settings: tuple[Setting, ...]
    releases: bool
    rolling: dict[float, int]


LONG = Sizes(
    quiet={1: 120, 10: 30},
    river={1: 12, 10: 3},
    changed=200,
    blips=50,
    others=24,
    settings=SETTINGS,
    releases=True,
    rolling={1: 40, 10: 10},
)
SHORT = Sizes(
    quiet={1: 8, 10: 1},
    river={1: 0, 10: 0},
    changed=15,
    blips=8,
    others=3,
    settings=SETTINGS[:3],
    releases=False,
    rolling={1: 3, 10: 1},
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line; `is_met` is none where there is no bar. `beside` is of the usual rules, by name."""

    what: str
    bar: str
    measured: str
    is_met: bool | None
    beside: dict[str, str] = field(default_factory=dict)


def measure_all(sizes: Sizes, *, seed: int, part: str | None = None) -> Iterator[Row]:
    """All rows, or those of one part: each draws from a generator of its own, so none depends on another."""
    parts = list_parts()
    for (name, measure), child in zip(
        parts.items(), np.random.SeedSequence(seed).spawn(len(parts)), strict=True
    ):
        if part in (None, name):
            yield from measure(np.random.default_rng(child), sizes)


def list_parts() -> dict[str, Callable[[Generator, Sizes], Iterator[Row]]]:
    """What measures the rows, by the name of the part; a new one goes last, as the place is the seed."""
    return {
        "quiet": measure_quiet,
        "changes": measure_changes,
        "blips": measure_blips,
        "mix": measure_mix,
        "canary": measure_canary,
        "successor": measure_successor,
        "cost": measure_cost,
        "rolling": measure_rolling,
    }


def measure_quiet(random: Generator, sizes: Sizes) -> Iterator[Row]:
    total, months = 0, 0
    for per_minute, streams in sizes.quiet.items():
        pages = warnings = 0
        fired: dict[str, list[int]] = {name: [] for name in (*usual_rules.RULES, *river_rules.RULES)}
        for number in range(streams):
            stream = draw_stream(random, WEEK + MONTH, per_minute)
            paged, warned = count_told(stream)
            pages, warnings = pages + paged, warnings + warned
            figures = HourlyFigures(stream, WEEK + MONTH)
            for name, rule in usual_rules.RULES.items():
                fired[name].append(rule(figures).size)
            if river_rules.IS_THERE and number < sizes.river[per_minute]:
                for name, watch in river_rules.RULES.items():
                    fired[name].append(watch(stream).size)
        total, months = total + pages, months + streams
        beside = {name: f"{np.mean(times):.2f} a month" for name, times in fired.items() if times}
        yield Row(
            f"pages without a change, {streams} stream-months at {per_minute:g}/min",
            "",
            f"{pages} (and {warnings} warnings)",
            None,
            beside,
        )
    yield Row("pages without a change, all", "<= 1", str(total), total <= 1)


def measure_changes(random: Generator, sizes: Sizes) -> Iterator[Row]:
    for setting in sizes.settings:
        streams = setting.more * (sizes.changed if setting.per_minute < 60 else max(sizes.changed // 3, 1))
        months = sizes.others if setting.per_minute < 60 else max(sizes.others // 6, 1)
        quiet_drop = _tune_static(random, setting, months=months)
        found, static = [], []
        for _ in range(streams):
            stream, change = draw_changed(
                random, days=setting.days, per_minute=setting.per_minute, drop=setting.drop
            )
            found.append(detect(stream, change))
            static.append(_count_until_static(stream, change, days=setting.days, drop=quiet_drop))
        yield from _tell_changes(setting, found, static, quiet_drop)


def _tell_changes(setting: Setting, found: list, static: list[float], quiet_drop: float) -> Iterator[Row]:
    timely = [one for one in found if not one.is_early]
    traces = np.array([one.traces for one in timely])
    median, p90 = float(np.median(traces)), float(np.quantile(traces, 0.9, method="higher"))
    hours = float(np.median([one.hours for one in timely]))
    missed, early = int(np.isinf(traces).sum()), len(found) - len(timely)
    is_met = median <= setting.bar and (setting.bar_p90 is None or p90 <= setting.bar_p90)
    what = f"drop {setting.drop:.2f} at {setting.per_minute:g}/min"
    yield Row(
        f"{what}: median traces (p90), {len(found)} streams",
        f"<= {setting.bar:,}" + (f" ({setting.bar_p90:,})" if setting.bar_p90 else ""),
        f"{median:,.0f} ({p90:,.0f}) = {hours:.1f} h; missed {missed}, early {early}",
        is_met,
        {"static": f"{np.median(static):,.0f} when tuned silent (-{quiet_drop:.2f})"},
    )
    errors = float(np.median([one.since_error_minutes for one in timely]))
    bar = setting.since_bar
    yield Row(
        f"{what}: since when, median error",
        "" if bar is None else f"<= {bar:g} min",
        f"{errors:.0f} min",
        None if bar is None else errors <= bar,
    )


def _tune_static(random: Generator, setting: Setting, *, months: int) -> float:
    """The drop by which a static rule stays silent on some stream-months of that traffic."""
    days = WEEK + MONTH
    quiet = (HourlyFigures(draw_stream(random, days, setting.per_minute), days) for _ in range(months))
    return usual_rules.find_quiet_drop(list(quiet))


def _count_until_static(stream: Stream, change: float, *, days: float, drop: float) -> float:
    fired = usual_rules.static(HourlyFigures(stream, days), drop=drop)
    after = fired[fired > change]
    return float(((stream.seconds > change) & (stream.seconds < after[0])).sum()) if after.size else np.inf


def measure_blips(random: Generator, sizes: Sizes) -> Iterator[Row]:
    for per_minute, bar in ((10.0, "0"), (60.0, "")):
        streams = sizes.blips if bar else max(sizes.blips // 5, 1)
        paged, fired = 0, dict.fromkeys(usual_rules.RULES, 0)
        for _ in range(streams):
            stream, start = draw_blip(random, per_minute=per_minute)
            paged += bool(find_pages(stream))
            figures = HourlyFigures(stream, WEEK + 2.5)
            for name, rule in usual_rules.RULES.items():
                fired[name] += _fires_within(rule(figures), start, start + 600 + LATE)
        yield Row(
            f"10-minute blip of -.30 at {per_minute:g}/min, {streams} streams: paged",
            bar,
            str(paged),
            paged == 0 if bar else None,
            {name: f"{times / streams:.0%}" for name, times in fired.items()},
        )


def measure_mix(random: Generator, sizes: Sizes) -> Iterator[Row]:
    days = WEEK + 8
    paged, fired = 0, dict.fromkeys(usual_rules.RULES, 0)
    for _ in range(sizes.others):
        stream = draw_mix_shift(random, days=days, per_minute=10)
        paged += bool(find_pages(stream))
        figures = HourlyFigures(stream, days)
        for name, rule in usual_rules.RULES.items():
            fired[name] += _fires_within(rule(figures), (WEEK + 1) * DAY, days * DAY)
    beside = {name: f"{times / sizes.others:.0%} in a week" for name, times in fired.items()}
    what = f"pure mix shift at 10/min, {sizes.others} streams of a week: paged"
    yield Row(what, "<= 1", str(paged), paged <= 1, beside)


def measure_canary(random: Generator, sizes: Sizes) -> Iterator[Row]:
    for is_by_session in (False, True) if sizes.releases else ():
        what = f"release canary 50 % of {'sessions' if is_by_session else 'traces'} at 10/min"
        quiet, worse = (
            [
                compare_canary(random, days=days, per_minute=10, drop=drop, is_by_session=is_by_session)
                for _ in range(streams)
            ]
            for days, drop, streams in ((3, 0.0, sizes.others), (1, 0.10, 4 * sizes.others))
        )
        false = sum(one.verdict is Verdict.WORSE for one in quiet)
        settled = sum(one.verdict is Verdict.NOT_WORSE for one in quiet)
        measured = f"{false} (not worse: {settled})"
        yield Row(f"{what}, {sizes.others} of 3 days: false", "<= 1", measured, false <= 1)
        found_after = f"{what}, .10 worse: found after, traces"
        yield _tell_found(f"{found_after} of the new release", worse, None if is_by_session else 450)
        both = [one.traces if one.verdict is Verdict.WORSE else np.inf for one in worse]
        yield Row(f"{found_after} of both", "", f"{np.median(both):,.0f}", None)


def measure_successor(random: Generator, sizes: Sizes) -> Iterator[Row]:
    if not sizes.releases:
        return
    quiet = [compare_successor(random, days=3, per_minute=10, drop=0) for _ in range(sizes.others)]
    false = sum(one.verdict is Verdict.WORSE for one in quiet)
    yield Row(f"release after release, {sizes.others} of 3 days: false", "", str(false), None)
    worse = [compare_successor(random, days=1, per_minute=10, drop=0.10) for _ in range(sizes.others)]
    yield _tell_found("release after release, .10 worse: found after, traces", worse, None)


def _tell_found(what: str, found: list, bar: int | None) -> Row:
    traces = [one.traces_new if one.verdict is Verdict.WORSE else np.inf for one in found]
    median = float(np.median(traces))
    wrong = sum(one.verdict is Verdict.NOT_WORSE for one in found)
    measured = f"{median:,.0f}" + (f"; {wrong} called not worse" if wrong else "")
    return Row(what, f"<= {bar}" if bar else "", measured, median <= bar if bar else None)


def measure_cost(random: Generator, sizes: Sizes) -> Iterator[Row]:
    del random, sizes
    cost = time_pass()
    yield Row("cost a stream and block, of 1,000 streams", "<= 200 us", f"{cost:.0f} us", cost <= 200)


def measure_rolling(random: Generator, sizes: Sizes) -> Iterator[Row]:
    """No bars: nobody had measured it, and it warns only."""
    for per_minute, streams in sizes.rolling.items():
        found = measure_false_warnings(random, streams=streams, per_minute=per_minute)
        what = f"rolling baseline, warnings without a change, {streams} stream-months at {per_minute:g}/min"
        yield Row(what, "", f"{found} = {found / streams:.2f} a month", None)
    for drop in (0.10, 0.05):
        yield Row(
            f"rolling baseline, drop {drop:.2f} at 10/min, {sizes.others} streams: warned of after, traces",
            "",
            measure_drops(random, streams=sizes.others, drop=drop),
            None,
        )
    for kind, measured in measure_decay(random, streams=max(sizes.others // 4, 1)).items():
        yield Row(f"decay of .002 a day over 60 days at 10/min, {kind} baseline", "", measured, None)


def _fires_within(fired: NDArray[np.float64], start: float, end: float) -> bool:
    return bool(((fired > start) & (fired <= end)).any())
