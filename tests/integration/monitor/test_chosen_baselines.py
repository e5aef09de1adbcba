"""Baselines and floors that people choose hold from the next block on, and what came by itself comes back."""

from __future__ import annotations

import pytest

from ragsonde.regression.baseline import BaselineKind
from ragsonde.storage.chosen_baselines import find_streams, list_held, read_floors
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.score_stream import block_at
from services.steering_ground import DAY, WELL, SteeringGround, level

pytestmark = pytest.mark.integration


@pytest.fixture
def ground(engine):
    return SteeringGround(engine)


@pytest.fixture
def stream(ground):
    return ground.begin()


def test_pinned_to_other_days_it_is_judged_by_them(ground, stream):
    ground.go_on(stream, level(first=9 * DAY, end=10 * DAY, mean=0.8, seed=3), step=DAY)
    ground.pin(first=8 * DAY, end=10 * DAY)
    (chosen,) = [one for one in ground.list_baselines() if one.stored.reason is not None]
    assert chosen.stored.baseline.trace_count == 2 * DAY * 4
    assert (chosen.is_judging, chosen.stored.judges_from) == (True, ground.first + 10 * DAY)
    ground.go_on(stream, level(first=10 * DAY, end=11 * DAY, mean=0.8, seed=4), step=DAY)
    assert ground.list_alerts() == []
    ground.go_on(stream, level(first=11 * DAY, end=12 * DAY, mean=0.6, seed=5), step=48)
    (alert,) = ground.list_alerts()
    assert (alert["kind"], alert["baseline_id"]) == ("page", chosen.stored.number)


@pytest.mark.usefixtures("stream")
def test_pinned_again_it_is_as_it_was_and_a_dry_run_changes_nothing(ground):
    (dry,) = ground.pin(first=0, end=7 * DAY, is_dry=True)
    assert (dry.is_new, dry.number, dry.traces) == (True, None, 7 * DAY * 4)
    assert len(ground.list_baselines(with_past=False)) == 1
    (first,) = ground.pin(first=0, end=7 * DAY)
    (again,) = ground.pin(first=0, end=7 * DAY)
    assert (first.is_new, again.is_new, again.number) == (True, False, first.number)
    (other,) = ground.pin(first=0, end=6 * DAY)
    standing = [one.stored.number for one in ground.list_baselines(with_past=False) if one.stored.reason]
    assert standing == [other.number]


@pytest.mark.usefixtures("stream")
def test_of_too_few_traces_nothing_is_pinned_and_of_none_it_is_said(ground):
    (left_out,) = ground.pin(first=0, end=100)
    assert (left_out.baseline, left_out.traces) == (None, 400)
    with pytest.raises(InputError, match="no scores from"):
        ground.pin(first=0, end=7 * DAY, scorer="other")


def test_an_open_alert_stays_open_and_ends_by_recovery_against_it(ground, stream):
    alert = ground.fall(stream, until=10 * DAY)
    ground.pin(first=9 * DAY, end=10 * DAY)
    assert ground.list_alerts()[0]["closed_at"] is None
    ground.go_on(stream, level(first=10 * DAY, end=12 * DAY, mean=0.6, seed=3), step=96)
    (told,) = ground.list_alerts()
    assert (told["id"], told["kind"]) == (alert, "resolve")


def test_dropped_the_one_that_came_by_itself_judges_again(ground, stream):
    alert = ground.fall(stream)
    before = ground.list_baselines()[0].stored.number
    accepted = ground.accept(alert).baseline
    ground.go_on(stream, level(first=9 * DAY + 96, end=10 * DAY, mean=0.6, seed=3), step=96)
    chosen = next(one.stored.number for one in ground.list_baselines(with_past=False) if one.stored.reason)
    assert len(ground.list_alerts()) == 1
    assert ground.drop(chosen).stored.number == chosen
    with pytest.raises(InputError, match=f"baseline {chosen}: does not stand since .* .gone., expected one"):
        ground.drop(chosen)
    assert ground.read_state(stream).baseline == before
    ground.go_on(stream, level(first=10 * DAY, end=11 * DAY, mean=0.6, seed=4), step=48)
    assert [kind for kind, _, _ in ground.list_kinds()] == ["page", "page"]
    gone = {one.stored.number: one.replaced_reason for one in ground.list_baselines()}
    assert gone[chosen] == "gone"
    assert accepted in gone
    with pytest.raises(InputError, match="came by itself"):
        ground.drop(before)
    with pytest.raises(InputError, match="there is none"):
        ground.drop(99_999)


def test_dropped_where_none_had_come_by_itself_one_comes(ground):
    stream = ground.add_stream()
    ground.count(stream, WELL)
    ground.close(9 * DAY)
    (pinned,) = ground.pin(first=0, end=2 * DAY)
    ground.judge(until=9 * DAY)
    ground.drop(pinned.number)
    ground.go_on(stream, level(first=9 * DAY, end=9 * DAY + 24, mean=0.8, seed=3))
    judging = [one for one in ground.list_baselines() if one.is_judging]
    assert [(one.stored.baseline.kind, one.stored.reason) for one in judging] == [(BaselineKind.PINNED, None)]


def test_below_a_floor_beside_a_baseline_it_is_told_and_above_it_is_not(ground, stream):
    (floor,) = ground.set_floor(0.7)
    ground.go_on(stream, level(first=9 * DAY, end=10 * DAY, mean=0.8, seed=3), step=96)
    assert ground.list_alerts() == []
    ground.set_floor(0.9)
    ground.go_on(stream, level(first=10 * DAY, end=12 * DAY, mean=0.8, seed=4), step=96)
    (told,) = ground.list_alerts()
    assert told["kind"] == "page"
    assert told["explanation"]["floor"] == 0.9
    assert told["explanation"]["baseline_mean"] == pytest.approx(0.9)
    assert told["explanation"]["drop"] == pytest.approx(0.1, abs=0.04)
    floors = [one for one in ground.list_baselines() if one.is_floor]
    assert [(one.stored.baseline.mean, one.replaced_at is None) for one in floors] == [
        (0.9, True),
        (0.7, False),
    ]
    assert floor.number == floors[1].stored.number


def test_a_fall_above_the_floor_is_told_by_the_baseline(ground, stream):
    ground.set_floor(0.3)
    ground.fall(stream)
    (told,) = ground.list_alerts()
    assert (told["kind"], told["explanation"]["floor"]) == ("page", 0.3)
    assert told["explanation"]["baseline_mean"] == pytest.approx(0.8, abs=0.02)


def test_a_floor_alone_below_500_traces_and_dropped_it_is_not_watched(ground):
    stream = ground.add_stream()
    thin = level(first=0, end=300, mean=0.5, per_block=1)
    ground.count(stream, thin)
    ground.judge(until=8 * DAY)
    assert ground.read_state(stream).baseline is None
    (floor,) = ground.set_floor(0.8)
    ground.count(stream, level(first=8 * DAY, end=8 * DAY + 60, mean=0.5, per_block=1))
    ground.judge(until=8 * DAY + 60)
    (told,) = ground.list_alerts()
    assert told["explanation"]["baseline_kind"] == "floor"
    assert told["explanation"]["baseline_mean"] == pytest.approx(0.8)
    ground.drop(floor.number)
    ground.go_on(stream, level(first=8 * DAY + 60, end=8 * DAY + 70, mean=0.5, per_block=1))
    assert ground.read_state(stream).baseline is None


@pytest.mark.usefixtures("stream")
def test_a_floor_holds_for_the_next_version_too_and_set_again_it_is_as_it_was(ground):
    (first,) = ground.set_floor(0.9)
    (again,) = ground.set_floor(0.9)
    assert (first.is_new, again.is_new, again.number) == (True, False, first.number)
    new = ground.add_stream(version="2")
    ground.count(new, level(first=9 * DAY, end=9 * DAY + 200, mean=0.8, seed=3, per_block=1))
    ground.judge(until=9 * DAY + 200)
    (told,) = ground.list_alerts()
    assert (told["stream_id"], told["explanation"]["baseline_kind"]) == (new, "floor")


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ("context_precision", {"1:answer", "1+1f2e3d:answer", "1"}),
        ("context_precision:answer", {"1:answer", "1+1f2e3d:answer"}),
        ("context_precision:answer@1f2e3d", {"1:answer", "1+1f2e3d:answer"}),
    ],
)
@pytest.mark.usefixtures("stream")
def test_a_floor_is_set_by_the_label_shown_and_says_which_streams_it_holds(ground, given, held):
    for version in ("1:answer", "1+1f2e3d:answer"):
        ground.count(ground.add_stream(version=version), level(first=8 * DAY, end=9 * DAY, mean=0.8))
    ground.close(9 * DAY)
    choices = ground.set_floor(0.7, scorer=given)
    assert {one.version for choice in choices for one in choice.held} == held
    with ground.engine.connect() as connection:
        floors = list_held(connection, [choice.number for choice in choices])
        assert {one.version for streams in floors.values() for one in streams} == held
        numbers = [one.number for one in list_all(ground, connection) if one.stream.version not in held]
        assert read_floors(connection, numbers) == {}
    (again,) = {choice.is_new for choice in ground.set_floor(0.7, scorer=given)}
    assert not again


def list_all(ground, connection):
    begin, end = block_at(ground.first), block_at(ground.first + 9 * DAY)
    limits = {"environment": None, "scorer": None, "judge": None}
    return find_streams(connection, app="shop", **limits, since=begin, until=end)


@pytest.mark.usefixtures("stream")
def test_a_pin_says_which_choice_of_a_person_it_replaces(ground):
    (first,) = ground.pin(first=0, end=2 * DAY)
    assert first.replaces is None
    (dry,) = ground.pin(first=0, end=3 * DAY, is_dry=True)
    (second,) = ground.pin(first=0, end=3 * DAY)
    assert (dry.replaces, second.replaces) == (first.number, first.number)


def test_what_a_floor_forbids_is_not_accepted(ground, stream):
    alert = ground.fall(stream)
    (floor,) = ground.set_floor(0.75)
    with pytest.raises(InputError, match=f"the floor 0.750 .baseline {floor.number}. forbids"):
        ground.accept(alert)
    ground.set_floor(0.4)
    assert ground.accept(alert).is_new
