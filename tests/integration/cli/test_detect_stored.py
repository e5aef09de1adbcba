"""`ragsonde detect --app`: stored blocks tell what a file of the same scores tells, and a monitor told."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from builders.score_counts import join_counts, make_counts
from builders.score_files import write_score_file
from ragsonde.cli.main import run
from ragsonde.regression.options import RegressionOptions
from ragsonde_schemas.score_stream import block_at
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
DAY = 288
STRATA = ("a", "b")
SHOP = ("--app", "shop")
NUMBERS = ("drop", "drop_lower", "drop_upper", "n", "mix_shift")
KINDS = {"regression_warned": "warn", "regression_opened": "page", "regression_resolved": "resolve"}


def make_fall(*, seed, mean=0.6, first_day=9.0, days=1.0, end=12, strata=STRATA, per_block=4):
    after = first_day + days
    return join_counts(
        make_counts(days=first_day, per_block=per_block, strata=strata, seed=seed),
        make_counts(
            days=days, per_block=per_block, mean=mean, first_day=first_day, strata=strata, seed=seed + 1
        ),
        make_counts(days=end - after, per_block=per_block, first_day=after, strata=strata, seed=seed + 2),
    )


@pytest.fixture
def ground(own_engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return RegressionGround(own_engine)


@pytest.fixture
def detect(ground, database_url, capsys):
    def call(*options, app=SHOP, end=12 * DAY, is_json=True):
        given = [str(option) for option in options]
        if app:
            span = (block_at(ground.first + block).isoformat() for block in (0, end))
            given += [*app, "--database-url", database_url]
            chosen = zip(("--since", "--until"), span, strict=True)
            given += [part for pair in chosen if pair[0] not in given for part in pair]
        with pytest.raises(SystemExit) as ended:
            run(["detect", *given, *(("--output", "json") if is_json else ())])
        out, err = capsys.readouterr()
        return ended.value.code or 0, [json.loads(line) for line in out.splitlines()] if is_json else out, err

    return call


def store(ground, counts, *, end=12 * DAY, failed=None, **names):
    stream = ground.add_stream(**names)
    ground.count(stream, counts.between(0, end), failed=failed)
    return stream


def nameless(events):
    return [{key: value for key, value in event.items() if key != "stream"} for event in events]


def test_a_file_of_the_same_scores_tells_the_same(ground, detect, tmp_path):
    streams = {
        ("context_precision", "shop"): make_fall(seed=1),
        ("context_relevance", "shop"): make_fall(seed=5, mean=0.7, first_day=9.5, days=2),
        ("essential_context", "shop"): make_counts(days=12, per_block=2, seed=9),
        ("context_position", "shop"): make_counts(days=12, per_block=2, mean=0, seed=9),
    }
    for (scorer, app), counts in streams.items():
        store(ground, counts, scorer=scorer, app=app)
    ground.close(12 * DAY)
    code, stored, _ = detect()
    file = write_score_file(
        tmp_path / "scores.csv", {key: ground.shift(counts) for key, counts in streams.items()}
    )
    of_file = detect(file, app=())
    assert code == of_file[0] == 0
    assert len(stored) > 4
    assert nameless(stored) == nameless(of_file[1])
    assert {event["stream"] for event in stored} == {
        "context_precision/lexical@f/shop/prod",
        "context_relevance/lexical@f/shop/prod",
    }
    assert (
        of_file[2]
        == "ragsonde: context_position/shop: not watched: its scores are so low that no fall could be told\n"
    )


@given(
    seed=st.integers(0, 1000),
    mean=st.sampled_from([0.3, 0.6, 0.7]),
    first_day=st.floats(0.5, 9),
    days=st.floats(0.1, 2),
    strata=st.sampled_from([("",), ("a", "b"), ("b", "a", "c")]),
    per_block=st.integers(1, 4),
    floor=st.sampled_from([None, 0.75]),
)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_fell_when_a_file_tells_the_same(ground, detect, tmp_path, floor, **fall):
    counts = make_fall(end=11.5, **fall)
    counts = join_counts(*(counts.between(day * DAY, day * DAY + 250) for day in range(12)))
    with ground.engine.begin() as connection:
        connection.execute(text("TRUNCATE score_stream, score_block, block_change"))
    store(ground, counts)
    ground.close(12 * DAY)
    options = () if floor is None else ("--floor", floor)
    file = write_score_file(tmp_path / "scores.csv", {("precision", "shop"): ground.shift(counts)})
    assert nameless(detect(*options)[1]) == nameless(detect(file, *options, app=())[1])


@pytest.mark.parametrize("step", [31, 144])
def test_it_tells_what_the_monitor_told_of_the_same_blocks(ground, detect, caplog, step):
    """One of few traces under a floor, one of which judgements fail for a day, one that only warns."""
    caplog.set_level(logging.INFO)
    options = RegressionOptions(floors={"context_position": 0.75}, smallest_drop=0.03, page_days=100)
    ground.chores.options = options
    ground.chores.targets = frozenset({"essential_context"})
    thin = join_counts(
        *(make_fall(seed=3, per_block=1).between(day * DAY, day * DAY + 40) for day in range(12))
    )
    given = {
        "context_precision": (make_fall(seed=1), {}),
        "context_relevance": (
            make_fall(seed=5, days=2),
            dict.fromkeys(range(9 * DAY, 10 * DAY), 2),
        ),
        "context_position": (thin, {}),
        "essential_context": (make_fall(seed=1), {}),
    }
    streams = {name: ground.add_stream(scorer=name) for name in given}
    for begin in range(0, 12 * DAY, step):
        end = min(begin + step, 12 * DAY)
        for name, (counts, failed) in given.items():
            if counts.between(begin, end).trace_count:
                ground.count(streams[name], counts.between(begin, end), failed=failed)
        ground.judge(until=end)
    told = sorted(
        (
            (KINDS[one.message], one.scorer, one.since, *(getattr(one, name) for name in NUMBERS))
            for one in caplog.records
            if one.message in KINDS
        ),
        key=str,
    )
    write_settings(options)
    code, events, _ = detect("--config", "ragsonde.yaml")
    found = sorted(
        (
            (
                one["kind"],
                one["stream"].partition("/")[0],
                one["since"].replace("Z", "+00:00"),
                *(one[name] for name in NUMBERS),
            )
            for one in events
        ),
        key=str,
    )
    assert code == 0
    assert {kind for kind, *_ in found} == {"warn", "page", "resolve"}
    assert {scorer for _, scorer, *_ in found} == set(given)
    assert found == told
    ats = {one["at"].replace("Z", "+00:00") for one in events}
    moments = {
        alert[name].isoformat()
        for alert in ground.list_alerts()
        for name in ("opened_at", "paged_at", "closed_at")
        if alert[name] is not None
    }
    assert ats == moments


def write_settings(options):
    with open("ragsonde.yaml", "w", encoding="utf-8") as file:  # noqa: PTH123 - in the test's own folder
        json.dump({"regression": options.model_dump()}, file)


def test_only_closed_blocks_count_and_that_counting_is_behind_is_said(ground, detect):
    store(ground, make_fall(seed=1))
    ground.close(9 * DAY)
    code, out, err = detect(is_json=False)
    assert (code, out) == (0, "")
    assert "scores are counted until" in err
    assert "shop, since " in err
    assert "nothing to tell of 1 stream\n" in err
    ground.close(12 * DAY)
    assert [one["kind"] for one in detect()[1]] == ["warn", "page", "resolve"]


def test_a_history_is_cut_and_chosen_from(ground, detect):
    for scorer, version in (
        ("context_precision", "1"),
        ("context_precision", "2"),
        ("context_relevance", "1"),
    ):
        store(ground, make_fall(seed=1), scorer=scorer, version=version)
    store(ground, make_fall(seed=1), app="desk")
    ground.close(12 * DAY)
    assert len(detect("--judge", "lexical", "--environment", "prod")[1]) == 9
    names = {one["stream"] for one in detect("--scorer", "context_precision")[1]}
    assert names == {f"context_precision/lexical@f/shop/prod ({version}, f)" for version in "12"}
    assert [one["kind"] for one in detect("--scorer", "context_relevance", end=10 * DAY)[1]] == [
        "warn",
        "page",
    ]
    assert detect("--scorer", "context_relevance", "--smallest-drop", 0.4)[1] == []


@pytest.mark.parametrize(
    ("options", "app", "told"),
    [
        ((), ("--app", "shpo"), "--app shpo: no such app; did you mean shop? (known: shop)"),
        (("--scorer", "context_precison"), SHOP,
         "--scorer context_precison: no stream of this app has it; did you mean context_precision?"),
        (("--judge", "gpt"), SHOP, "--judge gpt: no stream of this app has it (known: lexical)"),
        (("--environment", "production"), SHOP,
         "--environment production: no stream of this app has it; did you mean prod?"),
    ],
)  # fmt: skip
def test_a_name_that_nobody_knows_is_refused_with_the_nearest(ground, detect, options, app, told):
    store(ground, make_counts(days=1, per_block=1))
    ground.close(12 * DAY)
    code, events, err = detect(*options, app=app)
    assert (code, events) == (2, [])
    assert told in err
    assert err.count("\n") == 1


def test_an_empty_history_tells_nothing_and_says_so(ground, detect):
    code, out, err = detect(is_json=False)
    assert (code, out) == (0, "")
    assert "no score is counted yet: `ragsonde monitor` counts them" in err
    assert "nothing to tell of 0 streams" in err
    store(ground, make_counts(days=1, per_block=1))
    ground.close(3 * DAY)
    code, out, err = detect("--since", block_at(ground.first + 2 * DAY).isoformat(), is_json=False)
    assert (code, out) == (0, "")
    assert "nothing to tell of 0 streams" in err


def test_people_get_the_table_of_a_file(ground, detect):
    store(ground, make_fall(seed=1))
    ground.close(12 * DAY)
    code, out, err = detect(is_json=False)
    assert (code, err) == (0, "")
    assert out.count("context_precision/lexical@f/shop/prod") == 3


def test_a_database_that_is_away_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        run(["detect", *SHOP, "--database-url", "postgresql://nobody@127.0.0.1:1/none"])
    assert ended.value.code == 4
    assert "Traceback" not in capsys.readouterr().err
