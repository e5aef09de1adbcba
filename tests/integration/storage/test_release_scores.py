"""What two releases scored: live, current, of the same time and place, from the partitions of that time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from fakes.evaluations import FREE, FREE_PRINT
from ragsonde.regression.release_gate import Model
from ragsonde.storage.engine import GivenUpError
from ragsonde.storage.release_scores import (
    ReleaseKind,
    Rivals,
    bound_reading,
    list_releases,
    read_release_scores,
    write_reading,
)
from ragsonde.storage.rescored import activate_versions
from services.release_ground import ReleaseGround

pytestmark = pytest.mark.integration
PRECISION, RELEVANCY = ("context_precision", FREE), ("statement_relevancy", FREE)
MODEL = Model("1:answer", FREE_PRINT, 1)


@pytest.fixture
def ground(own_engine):
    return ReleaseGround(own_engine)


def name_rivals(ground, *, days=7, kind=ReleaseKind.RELEASE, new="2.4", old="2.3"):
    return Rivals("shop", kind, new, old, ground.now - timedelta(days=days), ground.now)


def read(ground, *, tags=(), **rivals):
    named = name_rivals(ground, **rivals)
    return read_release_scores(ground.engine, named, environment="production", tags=tags)


def list_counts(counts):
    """(score in hundredths, traces), summed over blocks and strata."""
    found: dict[int, int] = {}
    for bin_, count in zip(counts.bin.tolist(), counts.count.tolist(), strict=True):
        found[bin_] = found.get(bin_, 0) + count
    return found


def test_each_release_has_its_scores_and_what_failed_by_scorer_and_judge(ground):
    ground.store("2.3", 0.8, traces=30)
    ground.store("2.4", 0.55, traces=20)
    ground.store("2.2", 0.1, traces=10)
    found = read(ground)
    assert list(found) == [PRECISION, RELEVANCY]
    old, new = found[PRECISION]
    assert list(old.counts) == list(new.counts) == [MODEL]
    assert (list_counts(old.counts[MODEL]), list_counts(new.counts[MODEL])) == ({80: 30}, {55: 20})
    assert (old.failed, new.failed) == (0, 0)
    failed = found[RELEVANCY]
    assert (failed.old.failed, failed.new.failed, failed.has_scores) == (30, 20, False)


def test_a_trace_lies_in_the_five_minutes_of_its_event(own_engine):
    at = datetime(2026, 1, 1, 12, 4, 59, tzinfo=UTC)
    ground = ReleaseGround(own_engine, at + timedelta(hours=2))
    ground.store("2.4", 0.8, traces=1)
    ground.store("2.4", 0.8, traces=1, ago=timedelta(hours=2) - timedelta(seconds=1))
    counts = read(ground)[PRECISION].new.counts[MODEL]
    assert counts.block.tolist() == [at.timestamp() // 300, at.timestamp() // 300 + 1]


def test_other_apps_environments_and_times_are_not_read(ground):
    ground.store("2.4", 0.8, traces=5)
    ground.store("2.4", 0.1, traces=5, app="desk")
    ground.store("2.4", 0.1, traces=5, environment="dev")
    ground.store("2.4", 0.1, traces=5, ago=timedelta(days=8))
    ground.store("2.4", 0.1, traces=1, ago=timedelta(0))
    assert list_counts(read(ground)[PRECISION].new.counts[MODEL]) == {80: 5}


def test_variants_are_told_apart_in_the_same_way(ground):
    ground.store("2.4", 0.8, traces=5, variant="a")
    ground.store("2.4", 0.3, traces=4, variant="b")
    old, new = read(ground, kind=ReleaseKind.VARIANT, new="b", old="a")[PRECISION]
    assert (list_counts(old.counts[MODEL]), list_counts(new.counts[MODEL])) == ({80: 5}, {30: 4})


@pytest.mark.parametrize(
    "change",
    ["state = 'superseded'", "is_added = true, backfill_id = 1", "backfill_id = 1"],
    ids=["superseded", "added", "backfilled"],
)
def test_what_is_superseded_or_backfilled_is_left_out(ground, change):
    ground.store("2.4", 0.8, traces=3)
    left_out = ground.store("2.4", 0.1, traces=2)
    ground.change(f"UPDATE evaluation SET {change} WHERE trace_id LIKE :name", name=f"{left_out}%")  # noqa: S608
    assert list_counts(read(ground)[PRECISION].new.counts[MODEL]) == {80: 3}


def test_of_a_trace_the_newest_revision_counts(ground):
    at = ground.now - timedelta(hours=1)
    for raw in (0.2, 0.6):
        ground.ground.admit("t", raw=raw, release="2.4", environment="production", occurred_at=at)
    assert list_counts(read(ground)[PRECISION].new.counts[MODEL]) == {60: 1}


def test_only_active_versions_count(ground):
    ground.store("2.4", 0.8, traces=3)
    ground.change("UPDATE score SET version = '2:answer' WHERE scorer = 'context_precision'")
    ground.store("2.4", 0.3, traces=2)
    # nobody has said which: both are there, each by itself
    assert len(read(ground)[PRECISION].new.counts) == 2
    ground.change("DELETE FROM scorer_version WHERE scorer = 'context_precision'")
    ground.change("INSERT INTO scorer_version VALUES ('context_precision', '2', true, now())")
    counts = read(ground)[PRECISION].new.counts
    assert {model.version: list_counts(one) for model, one in counts.items()} == {"2:answer": {80: 3}}


TRIAL = """
INSERT INTO score SELECT (p).* FROM (
    SELECT jsonb_populate_record(s, jsonb_build_object(
        'version', '1+abc:answer', 'raw', .2, 'created_at', s.created_at - interval '1 millisecond')) AS p
    FROM score s WHERE s.scorer = 'context_precision') AS trial
"""
"""As `ragsonde rescore` stores them: beside the others, and just before them."""


def test_of_a_trace_with_two_versions_the_one_that_is_shown_counts_and_once(ground):
    ground.store("2.3", 0.7, traces=4)
    ground.store("2.4", 0.8, traces=3)
    ground.change(TRIAL)

    def list_shown():
        return {model.version: list_counts(one) for model, one in read(ground)[PRECISION].new.counts.items()}

    assert list_shown() == {"1:answer": {80: 3}}
    activate_versions(ground.engine, {"context_precision": "1+abc"}, now=ground.now)
    assert list_shown() == {"1+abc:answer": {20: 3}}
    activate_versions(ground.engine, {"context_precision": None}, now=ground.now)
    assert list_shown() == {"1:answer": {80: 3}}


def test_what_was_tried_first_and_failed_is_not_held_against_the_release(ground):
    ground.store("2.4", 0.8, traces=3)
    ground.change(TRIAL)
    ground.change(
        "UPDATE score SET status = 'error', raw = NULL, cause = 'judge_timeout' WHERE version LIKE '1+abc%'"
    )
    new = read(ground)[PRECISION].new
    assert (new.failed, list_counts(new.counts[MODEL])) == (0, {80: 3})


def test_who_answered_parts_the_scores(ground):
    fallback = ground.store("2.4", 0.8, traces=3)
    change = "UPDATE score SET answered_fingerprint = 'other', judge_epoch = 3 WHERE trace_id LIKE :name"
    ground.change(change, name=f"{fallback}%")
    ground.store("2.4", 0.3, traces=2)
    counts = read(ground)[PRECISION].new.counts
    assert set(counts) == {MODEL, Model("1:answer", "other", 3)}


def test_the_first_named_tag_is_the_stratum(ground):
    ground.store("2.4", 0.8, traces=3, tags=("b", "a"))
    ground.store("2.4", 0.8, traces=2, tags=("b",))
    ground.store("2.4", 0.8, traces=1, tags=("what a producer wrote",))
    counts = read(ground, tags=("a", "b"))[PRECISION].new.counts[MODEL]
    assert counts.strata == ("other", "a", "b")
    by_stratum = {0: 0, 1: 0, 2: 0}
    for stratum, count in zip(counts.stratum.tolist(), counts.count.tolist(), strict=True):
        by_stratum[stratum] += count
    assert by_stratum == {0: 1, 1: 3, 2: 2}


def test_known_releases_are_the_two_first_and_then_the_newest(ground):
    ground.store("2.3", 0.8, traces=2, ago=timedelta(days=3))
    ground.store("2.5", 0.8, traces=3)
    ground.store("2.4", 0.8, traces=4, ago=timedelta(days=2), environment="dev")
    found = list_releases(ground.engine, name_rivals(ground))
    assert [(one.environment, one.name, one.traces) for one in found] == [
        ("dev", "2.4", 4), ("production", "2.3", 2), ("production", "2.5", 3),
    ]  # fmt: skip


def explain(ground, rivals):
    columns = {**bound_reading(rivals), "environment": "production", "tags": []}
    with ground.engine.begin() as connection:
        rows = connection.execute(text(f"EXPLAIN {write_reading(rivals.kind)}"), columns).scalars()
        return "\n".join(rows)


def test_only_the_partitions_of_the_time_are_read(ground):
    for ago in (0, 3, 20, 40):
        ground.store("2.4", 0.8, traces=2, ago=timedelta(days=ago, hours=1), over=timedelta(minutes=1))
    plan = explain(ground, name_rivals(ground, days=4))
    for ago, is_read in ((0, True), (3, True), (20, False), (40, False)):
        day = (ground.now - timedelta(days=ago, hours=1)).strftime("%Y%m%d")
        for table in ("trace", "evaluation", "score"):
            assert (f"{table}_{day}" in plan.replace("_p", "_")) is is_read, (table, ago, plan)


def test_a_look_that_takes_too_long_is_given_up(ground, monkeypatch):
    monkeypatch.setattr("ragsonde.storage.release_scores.TAKE_TIME", "SET LOCAL statement_timeout = '1ms'")
    ground.store("2.4", 0.8, traces=5000, over=timedelta(minutes=30))
    with pytest.raises(GivenUpError):
        read(ground)
