"""A block holds what its scores say: of the newest revisions, by stream and stratum, whoever counts it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from fakes.clock import NOON
from fakes.evaluations import FREE, FREE_PRINT, PAID, make_assessment, make_result
from ragsonde.storage.block_counting import count_block
from ragsonde.storage.partitions import list_partitions
from ragsonde.storage.score_blocks import list_streams, read_blocks
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.score_stream import ScoreStream, block_at
from services.block_ground import LONG_AGO, STRATUM, BlockGround, Outcome, count_by_hand, minutes

pytestmark = pytest.mark.integration
PRECISION, RELEVANCY = ("context_precision", "1:answer"), ("statement_relevancy", "1")


@pytest.fixture
def ground(engine):
    return BlockGround(engine)


def free(raw, *, at=NOON, app="shop", environment="", stratum=STRATUM):
    """What the free judge's evaluation leaves: a score and an error."""
    place = (FREE, app, environment, at)
    return [Outcome(*PRECISION, *place, raw, stratum), Outcome(*RELEVANCY, *place, None, stratum)]


def count(ground, start=NOON, *, places=None, tags=()):
    return count_block(ground.engine, start, places=places, tags=tags, now=ground.clock.now())


def test_a_block_holds_the_scores_of_its_five_minutes_with_both_edges_and_the_errors(ground):
    times = [NOON - timedelta(microseconds=1), NOON, NOON + minutes(4.99), NOON + minutes(5)]
    raws = [0.3, 0.07, 0.29, 0.9]
    for number, (at, raw) in enumerate(zip(times, raws, strict=True)):
        ground.admit(f"t-{number}", raw=raw, occurred_at=at)
    assert count(ground) == 2
    expected = count_by_hand([*free(0.07), *free(0.29)])
    assert ground.read() == expected
    assert [(one.n, one.failed, one.bins) for one in expected] == [(2, 0, ((7, 1), (29, 1))), (0, 2, ())]


@pytest.mark.parametrize(
    ("raw", "bin_"), [(0.0, 0), (1e-12, 0), (0.001, 1), (0.28, 28), (0.281, 29), (0.57, 57), (1.0, 100)]
)
def test_a_value_is_rounded_up_to_a_hundredth(ground, raw, bin_):
    ground.admit("t-1", raw=raw)
    count(ground)
    (scored, _) = ground.read()
    assert scored.bins == ((bin_, 1),)


def test_sums_are_the_same_to_the_last_bit_in_any_order(ground, own_engine):
    raws = [0.3 + number / 9 / 200 for number in range(1, 9)]  # of one bin, where floats are summed
    other = BlockGround(own_engine)
    for number, raw in enumerate(raws):
        ground.admit(f"t-{number}", raw=raw)
        other.admit(f"t-{number}", raw=raws[-1 - number])
    count(ground)
    count(other)
    first, second = (
        [(one.total, one.squares) for one in each.read_values() if one.n] for each in (ground, other)
    )
    assert first == second
    ((total, squares),) = first
    assert total == pytest.approx(sum(raws), abs=1e-8)
    assert squares == pytest.approx(sum(raw * raw for raw in raws), abs=1e-8)


def test_what_is_superseded_withdrawn_or_skipped_counts_nowhere(ground):
    ground.admit("t-1", raw=0.2)
    ground.admit("t-1", raw=0.6, occurred_at=NOON + minutes(1))
    withdrawn = ground.admit("t-2", raw=0.9)
    ground.stores.traces.withdraw(withdrawn.key)
    (key,) = ground.admit("t-3", raw=0.4, paid=True).pending
    ground.finish(key, state=EvaluationState.NOT_EVALUABLE)
    count(ground)
    assert ground.read() == count_by_hand([*free(0.6, at=NOON + minutes(1)), *free(0.4)])


def test_a_revision_that_moves_into_another_block_leaves_the_one_before(ground):
    ground.admit("t-1", raw=0.2)
    count(ground)
    ground.admit("t-1", raw=0.6, occurred_at=NOON + minutes(7))
    for start in (NOON, NOON + minutes(5)):
        count(ground, start)
    assert ground.read() == count_by_hand(free(0.6, at=NOON + minutes(7)))


def test_a_judge_that_failed_has_errors_only_and_no_score(ground):
    (key,) = ground.admit("t-1", raw=0.4, paid=True).pending
    ground.finish(key, state=EvaluationState.FAILED)
    count(ground)
    paid = [one for one in ground.read() if one.judge == PAID]
    assert [(one.scorer, one.n, one.failed, one.bins) for one in paid] == [
        ("context_precision", 0, 1, ()),
        ("statement_relevancy", 0, 1, ()),
    ]
    assert {one.stratum for one in paid} == {"all"}


def test_who_answered_and_each_version_are_streams_of_their_own(ground):
    admitted = ground.admit("t-1", raw=0.4, paid=True)
    fallback = make_assessment().model_copy(
        update={"answered_fingerprint": "fallback", "judge_epoch": 3, "head": None, "truncated": False}
    )
    ground.finish(admitted.pending[0], assessment=fallback)
    ground.rescore(admitted, raw=0.5)
    count(ground)
    streams = {one.stream for one in list_streams(ground.engine, active_since=NOON)}
    assert streams == {
        ScoreStream(
            scorer=PRECISION[0],
            version=version,
            judge=judge,
            fingerprint=print_,
            judge_epoch=epoch,
            app="shop",
            environment="",
        )
        for version, judge, print_, epoch in (
            ("1:answer", FREE, FREE_PRINT, 1),
            ("2:answer", FREE, FREE_PRINT, 1),
            ("1:answer", PAID, "fallback", 3),
        )
    }


def test_strata_are_told_apart_by_contexts_head_truncation_and_the_first_named_tag(ground):
    result = make_result()
    for number, (contexts, head, cut, tags) in enumerate(
        [
            (0, "query_only", False, ()),
            (2, "query_only", False, ("b", "a")),
            (3, "query_answer", True, ("b",)),
            (11, None, False, ("what a producer wrote",)),
            ("many", "what a plugin says", False, ("a",)),
        ]
    ):
        (key,) = ground.admit(f"t-{number}", paid=True, tags=tags).pending
        claimed = ground.stores.traces.claim(key)
        score = result.outcomes[0].model_copy(update={"details": {"n_contexts": contexts}})
        assessment = make_assessment().model_copy(update={"head": head, "truncated": cut})
        given = result.model_copy(update={"outcomes": (score,), "assessment": assessment})
        ground.stores.traces.finish(claimed, given)
    count(ground, tags=("a", "b"))
    assert [one.stratum for one in ground.read() if one.judge == PAID] == [
        "contexts:0 head:query_only tag:other",
        "contexts:1-2 head:query_only tag:a",
        "contexts:11+ tag:other",
        "contexts:3-5 head:query_answer truncated tag:b",
        "head:other tag:a",
    ]
    count(ground)
    assert not any("tag" in one.stratum for one in ground.read())


def test_only_the_places_that_are_named_are_counted_and_the_others_stay(ground):
    for app, environment in (("shop", "default"), ("shop", "test"), ("desk", "default")):
        ground.admit(f"{app}-{environment}", app=app, environment=environment, raw=0.5)
    places = {("shop", "default"), ("desk", "default")}
    count(ground, places=places)
    assert {(one.app, one.environment) for one in ground.read()} == places
    ground.forget("desk-default")
    count(ground, places={("shop", "test")})
    assert {one.app for one in ground.read()} == {"shop", "desk"}
    count(ground, places={("desk", "default")})
    assert {one.app for one in ground.read()} == {"shop"}


def test_a_block_of_a_day_without_a_partition_gets_that_one_alone(own_engine):
    ground = BlockGround(own_engine)
    ground.admit("t-1")
    with own_engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE score_block_20260615")
        connection.exec_driver_sql("DROP TABLE judge_reply_20260615")
    count(ground)
    assert len(ground.read()) == 2
    with own_engine.connect() as connection:
        assert "judge_reply" not in {one.table for one in list_partitions(connection)}


def test_many_counters_at_once_leave_what_one_would(ground):
    for number in range(20):
        ground.admit(f"t-{number}", raw=number / 20)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: count(ground), range(24)))
    assert found == [2] * 24
    assert ground.read() == count_by_hand([one for number in range(20) for one in free(number / 20)])


class TestReading:
    @pytest.fixture(autouse=True)
    def numbers(self, ground):
        for number in range(4):
            ground.admit(f"t-{number}", raw=0.1 * number, occurred_at=NOON + minutes(5 * number))
            count(ground, NOON + minutes(5 * number))
        ground.admit("old", occurred_at=NOON - timedelta(days=2), app="desk")
        count(ground, NOON - timedelta(days=2))
        return {one.stream.app: one.number for one in list_streams(ground.engine, active_since=LONG_AGO)}

    def test_from_the_first_block_to_before_the_last(self, ground, numbers):
        rows = read_blocks(ground.engine, numbers.values(), since=NOON + minutes(5), until=NOON + minutes(15))
        assert [block_at(block) for block in rows.blocks] == [NOON + minutes(5), NOON + minutes(10)]
        assert (rows.n, rows.bins, rows.counts) == ([1, 1], [[10], [20]], [[1], [1]])

    def test_only_the_streams_that_are_named(self, ground, numbers):
        rows = read_blocks(ground.engine, [numbers["desk"]], since=NOON - timedelta(days=9), until=NOON)
        assert (rows.streams, rows.n) == ([numbers["desk"]], [1])

    def test_nothing_is_columns_without_rows(self, ground):
        rows = read_blocks(ground.engine, [], since=NOON, until=NOON + minutes(5))
        assert list(rows) == [[]] * 9

    def test_a_stream_is_listed_while_it_has_scores(self, ground):
        def list_apps(since, app=None):
            return {one.stream.app for one in list_streams(ground.engine, active_since=since, app=app)}

        assert list_apps(NOON - timedelta(days=3)) == {"shop", "desk"}
        assert list_apps(NOON) == list_apps(NOON + minutes(15)) == {"shop"}
        assert list_apps(NOON + minutes(20)) == set()
        assert list_apps(NOON - timedelta(days=3), app="desk") == {"desk"}
