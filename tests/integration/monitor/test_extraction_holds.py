"""While fields of traces are found by other rules than a day ago the verdict is held, and the rule named."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from builders.score_counts import join_counts, make_counts
from ragsonde.storage.extraction_blocks import read_shares
from ragsonde_schemas.score_stream import block_at
from ragsonde_schemas.trace import Extraction, FieldEvidence
from services.block_ground import BlockGround
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
DAY = 288
FALL = join_counts(
    make_counts(days=9, per_block=4, seed=1),
    make_counts(days=3, per_block=4, mean=0.6, first_day=9, seed=2),
)
OLD, NEW = "native:contexts", "openinference:retriever"


@pytest.fixture
def ground(engine):
    ground = RegressionGround(engine)
    stream = ground.add_stream()
    ground.count(stream, FALL.between(0, 9 * DAY))
    write_rules(ground, range(9 * DAY), OLD)
    ground.judge(until=9 * DAY)
    ground.stream = stream
    return ground


def write_rules(ground, blocks, rule, *, app="shop"):
    rows = [
        {"start": block_at(ground.first + block).isoformat(), "rules": {"contexts": {rule: 4}}}
        for block in blocks
    ]
    with ground.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO extraction_block (app, environment, start, rules) "
                "SELECT :app, 'prod', start, rules FROM json_to_recordset(CAST(:rows AS json)) "
                "AS r(start timestamptz, rules jsonb)"
            ),
            {"app": app, "rows": json.dumps(rows)},
        )


def go_on(ground, *, end, step=12):
    for begin in range(9 * DAY, end, step):
        ground.count(ground.stream, FALL.between(begin, begin + step))
        ground.judge(until=begin + step)


def test_a_fall_that_begins_with_another_rule_is_held_and_the_rule_named(ground, caplog):
    write_rules(ground, range(9 * DAY, 9 * DAY + 96), NEW)
    go_on(ground, end=9 * DAY + 96)
    assert ground.read_state(ground.stream).hold == f"extraction: contexts by {NEW}"
    assert ground.list_alerts() == []
    (held,) = [one for one in caplog.records if one.message == "regression_held"]
    assert (held.reason, held.app) == (f"extraction: contexts by {NEW}", "shop")


@pytest.mark.parametrize(("rule", "app"), [(OLD, "shop"), (NEW, "elsewhere")])
def test_where_its_own_rules_stay_the_same_fall_is_told(ground, rule, app):
    write_rules(ground, range(9 * DAY, 9 * DAY + 96), rule, app=app)
    go_on(ground, end=9 * DAY + 96)
    assert ground.read_state(ground.stream).hold is None
    assert [one["kind"] for one in ground.list_alerts()] == ["page"]


def test_after_a_day_the_new_rule_is_the_usual_one_and_the_fall_is_told_with_it(ground):
    write_rules(ground, range(9 * DAY, 11 * DAY), NEW)
    go_on(ground, end=11 * DAY, step=48)
    assert ground.read_state(ground.stream).hold is None
    (alert,) = ground.list_alerts()
    assert alert["opened_at"] > block_at(ground.first + 9 * DAY + 220)
    moved = alert["explanation"]["extraction"]["moved"]
    assert {(one["field"], one["rule"]) for one in moved} == {("contexts", OLD), ("contexts", NEW)}


def test_judged_at_once_or_step_by_step_is_the_same(ground):
    write_rules(ground, range(9 * DAY, 11 * DAY), NEW)
    go_on(ground, end=11 * DAY, step=24)
    before = ground.read_state(ground.stream)
    ground.count(ground.stream, FALL.between(9 * DAY, 11 * DAY))
    ground.restart()
    ground.judge(until=11 * DAY)
    after = ground.read_state(ground.stream)
    assert (after.block, after.hold) == (before.block, before.hold)
    assert after.state.log_bets == pytest.approx(before.state.log_bets, abs=1e-9)


def test_old_counts_of_rules_are_tidied(ground):
    write_rules(ground, range(-40 * DAY, -40 * DAY + 2), OLD)
    ground.judge(until=10 * DAY)
    (oldest,) = ground.query("SELECT min(start) FROM extraction_block")[0]
    assert oldest == block_at(ground.first)


def read_counted(ground, app="shop"):
    rows = ground.query(
        "SELECT environment, rules FROM extraction_block WHERE app = :app ORDER BY environment", app=app
    )
    return dict(rows)


def extracted(**rules):
    fields = {name: FieldEvidence(rule=rule) for name, rule in rules.items()}
    return Extraction(format="native", fields=fields)


def test_rules_are_counted_with_the_scores_of_their_block(engine):
    ground = BlockGround(engine)
    ground.begin()
    now = ground.clock.now()
    ground.admit("t-1", extraction=extracted(contexts=OLD, app="native:app"))
    ground.admit("t-2", extraction=extracted(contexts=OLD, query="native:query"))
    ground.admit("t-3", extraction=extracted(contexts=NEW), environment="staging")
    ground.admit("t-4", extraction=extracted(contexts=NEW), app="elsewhere")
    ground.count(minutes=30)
    expected = {"": {"contexts": {OLD: 2}, "query": {"native:query": 1}}, "staging": {"contexts": {NEW: 1}}}
    assert read_counted(ground) == expected
    with engine.connect() as connection:
        first = int(now.timestamp()) // 300
        shares = read_shares(connection, {("shop", ""): first}, until=first + 1)
    assert shares["shop", ""].count.tolist() == [[2, 1]]


def test_of_revisions_the_newest_counts_and_what_is_forgotten_does_not(engine):
    ground = BlockGround(engine)
    ground.begin()
    now = ground.clock.now()
    ground.admit("t-1", raw=0.8, extraction=extracted(contexts=OLD), occurred_at=now)
    ground.admit("t-2", raw=0.8, extraction=extracted(contexts=OLD), occurred_at=now)
    ground.count(minutes=30)
    ground.admit("t-1", raw=0.7, extraction=extracted(contexts=NEW), occurred_at=now)
    ground.forget("t-2")
    ground.count(minutes=30)
    assert read_counted(ground) == {"": {"contexts": {NEW: 1}}}
