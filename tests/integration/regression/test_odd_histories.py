"""Histories that are odd: what a file, and a monitor over Postgres, tells of each. No crash, no storm."""

from __future__ import annotations

import json
import resource
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from builders.score_counts import join_counts, make_counts
from builders.score_files import write_score_file
from ragsonde.cli.main import run
from ragsonde.regression.blocks import count_blocks
from services.regression_ground import RegressionGround

DAY = 288
FIRST_DAY = 20_000


def level(value, *, days=20, per_day=720, after=None, from_day=10):
    """One value for ever, or another one from a day on."""
    seconds = np.arange(0, days * 86_400, 86_400 / per_day)
    fallen = value if after is None else after
    return count_blocks(seconds, np.where(seconds < from_day * 86_400, value, fallen))


def idle(days, *, mean_after=0.8, length=2):
    return join_counts(
        make_counts(days=9, per_block=4, seed=1),
        make_counts(days=length, per_block=4, seed=2, mean=mean_after, first_day=9 + days),
    )


def jump(days, *, mean_after=0.8):
    """For an hour a clock is ahead, or behind, by so many days, and then right again."""
    whole = join_counts(
        make_counts(days=10, per_block=4, seed=1),
        make_counts(days=2, per_block=4, seed=2, mean=mean_after, first_day=10),
    )
    hour = make_counts(days=1 / 24, per_block=4, seed=3, first_day=10 + days)
    return join_counts(whole.between(0, 10 * DAY), hour, whole.between(10 * DAY + 12, 12 * DAY))


# name: history, what is told (kind and day), what is said of a stream that is not watched
CASES = {
    "three traces a day": (
        level(0.9, days=120, per_day=3, after=0.1, from_day=60), [], "not watched: found 21",
    ),
    "all zeros": (level(0.0), [], "so low that no fall could be told"),
    "all ones": (level(1.0), [], ""),
    "all ones, then all zeros": (level(1.0, after=0.0), [("warn", 10), ("page", 10)], ""),
    "one value for ever": (level(0.37), [], ""),
    "idle for a year": (idle(365), [], ""),
    "worse after a year of idleness": (
        idle(365, mean_after=0.6), [("warn", 374), ("page", 374)], ""
    ),
    "a gap of a week": (idle(7), [], ""),
    "worse after a gap of a week": (idle(7, mean_after=0.6), [("warn", 16), ("page", 16)], ""),
    "a clock that jumps a day ahead": (jump(1), [], ""),
    "a clock that jumps a day back": (jump(-1), [], ""),
    "a clock that jumps a month ahead": (jump(30), [], ""),
    "a fall while a clock jumps": (jump(1, mean_after=0.55), [("warn", 10), ("page", 10)], ""),
    "a release bad from its first trace": (
        join_counts(make_counts(days=9, per_block=4, seed=1),
                    make_counts(days=2, per_block=4, mean=0.5, seed=2, first_day=9)),
        [("warn", 9), ("page", 9)], "",
    ),
    "a stream bad from its first trace": (make_counts(days=12, per_block=4, mean=0.3, seed=2), [], ""),
    "a single trace": (level(0.5, days=1, per_day=1), [], "not watched: found 1 trace"),
}  # fmt: skip


def detect(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        run(["detect", *map(str, arguments), "--output", "json"])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return ended.value.code or 0, [json.loads(line) for line in out.splitlines()], err


def name_days(events):
    """Kind and day of each; it is told at the end of a block."""
    ends = [datetime.fromisoformat(one["at"]).timestamp() for one in events]
    return [(one["kind"], int(end - 1) // 86_400 - FIRST_DAY) for one, end in zip(events, ends, strict=True)]


def move(counts):
    return replace(counts, block=counts.block + FIRST_DAY * DAY)


@pytest.mark.parametrize("name", CASES)
def test_a_file_of_an_odd_history_tells_what_is_defined(capsys, tmp_path, name):
    counts, told, said = CASES[name]
    file = write_score_file(tmp_path / "scores.csv", {("precision", "shop"): move(counts)})
    code, events, err = detect(capsys, file)
    assert (code, name_days(events)) == (0, told)
    assert said in err
    assert bool(err) == bool(said)


def write_releases(path, releases):
    """Ten days of .8; on the tenth day traces are of other releases: (name, mean, share of the traces)."""
    random = np.random.default_rng(4)
    lines = ["time,value,release"]
    for place in range(11 * 1440):
        name, mean = "stable", 0.8
        if place >= 9 * 1440:
            chosen = int(random.choice(len(releases), p=[one[2] for one in releases]))
            name, mean, _ = releases[chosen]
        lines.append(f"{FIRST_DAY * 86_400 + place * 60},{random.binomial(2, mean) / 2},{name}")
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("name", "releases", "told"),
    [
        ("500 releases, all well", [(f"r{n}", 0.8, 1 / 500) for n in range(500)], []),
        ("500 releases, all bad", [(f"r{n}", 0.5, 1 / 500) for n in range(500)], ["warn", "page"]),
        ("a release that appears and vanishes", [("stable", 0.8, 0.995), ("gone", 0.0, 0.005)], []),
    ],
)
def test_releases_do_not_part_a_stream_and_raise_no_storm(capsys, tmp_path, name, releases, told):
    code, events, _ = detect(capsys, write_releases(tmp_path / "scores.csv", releases))
    assert (code, [one["kind"] for one in events]) == (0, told), name


def test_a_million_rows_take_little_memory(capsys, tmp_path):
    lines = np.char.add((FIRST_DAY * 86_400 + np.arange(1_000_000)).astype(str), ",0.5\n").tolist()
    (tmp_path / "scores.csv").write_text("time,value\n" + "".join(lines))
    del lines
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code, events, _ = detect(capsys, tmp_path / "scores.csv")
    assert (code, events) == (0, [])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


@pytest.mark.integration
@pytest.mark.parametrize("name", [name for name in CASES if "a year" not in name and "month" not in name])
def test_a_monitor_tells_the_same_of_it_as_its_days_come(engine, name):
    counts, told, _ = CASES[name]
    ground = RegressionGround(engine)
    stream = ground.add_stream()
    last = min(int(counts.block[-1]) // DAY + 1, 21)
    for end in range(1, last + 1):
        part = counts.between((end - 1) * DAY, end * DAY)
        if part.trace_count:
            ground.count(stream, part)
        ground.judge(until=end * DAY)
    alerts = ground.list_alerts()
    assert len(alerts) == bool(told)
    for alert in alerts:
        assert (alert["kind"], alert["closed_at"]) == ("page", None)


@pytest.mark.integration
@pytest.mark.parametrize("mean", [0.8, 0.55])
def test_scores_that_come_three_days_late_are_told_of_once_and_as_if_in_time(engine, mean):
    """Each day's second half comes three days later, in the order of its days."""
    ground = RegressionGround(engine)
    stream = ground.add_stream()
    after = make_counts(days=3, per_block=4, seed=2, mean=mean, first_day=9)
    whole = join_counts(make_counts(days=9, per_block=4, seed=1), after)
    for day in range(15):
        in_time = whole.between(day * DAY, day * DAY + 144)
        late = whole.between((day - 3) * DAY + 144, (day - 2) * DAY)
        for part in (in_time, late):
            if part.trace_count:
                ground.count(stream, part)
        ground.judge(until=(day + 1) * DAY)
    assert [(one["kind"], one["closed_at"]) for one in ground.list_alerts()] == [("page", None)] * (
        mean < 0.8
    )
