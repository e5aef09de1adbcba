from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from builders.spans import make_span
from fakes.clock import NOON
from ragsonde.assembly.closing import ClosingTimes, Gathered, choose_closing, has_end_marker, is_root
from ragsonde_schemas.open_record import ClosingReason

TIMES = ClosingTimes(
    quiet_seconds=5, no_root_seconds=60, max_wait_seconds=600, spans_at_most=10, bytes_at_most=1000
)


def after(seconds):
    return NOON + timedelta(seconds=seconds)


def choose(*, now=0, **known):
    gathered = {
        "opened_at": NOON,
        "has_root": False,
        "has_end_marker": False,
        "is_whole": False,
        "is_cut": False,
        "span_count": 1,
        "byte_count": 1,
        "closed_before": False,
    }
    return choose_closing(Gathered(now=after(now), **{**gathered, **known}), times=TIMES)


def test_the_defaults_are_those_of_the_contract():
    assert ClosingTimes().model_dump() == {
        "quiet_seconds": 5,
        "no_root_seconds": 60,
        "max_wait_seconds": 600,
        "spans_at_most": 10_000,
        "bytes_at_most": 16 * 1024 * 1024,
    }


def test_with_its_root_a_trace_waits_for_a_short_quiet_time():
    assert choose(now=7, has_root=True) == (after(12), ClosingReason.QUIET)


def test_without_a_root_it_waits_for_a_longer_one():
    assert choose(now=7) == (after(67), ClosingReason.NO_ROOT)


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({"is_whole": True}, ClosingReason.WHOLE),
        ({"has_end_marker": True}, ClosingReason.END_MARKER),
        ({"span_count": 10}, ClosingReason.OVER_LIMIT),
        ({"byte_count": 1000}, ClosingReason.OVER_LIMIT),
        ({"is_cut": True}, ClosingReason.OVER_LIMIT),
    ],
)
def test_what_can_get_nothing_more_is_closed_at_once(known, reason):
    assert choose(now=3, **known) == (after(3), reason)


@pytest.mark.parametrize("known", [{"span_count": 9}, {"byte_count": 999}])
def test_below_the_limits_it_waits(known):
    assert choose(has_root=True, **known).at == after(5)


@pytest.mark.parametrize("has_root", [True, False])
def test_no_trace_waits_longer_than_the_longest_wait(has_root):
    assert choose(now=598, has_root=has_root) == (after(600), ClosingReason.MAX_WAIT)


def test_spans_that_come_after_the_longest_wait_are_due_at_once():
    assert choose(now=700, has_root=True) == (after(600), ClosingReason.MAX_WAIT)


def test_a_reopened_trace_waits_from_its_reopening():
    assert choose(now=5000, opened_at=after(5000), has_root=True, closed_before=True).at == after(5005)


def test_a_full_trace_that_was_closed_is_not_read_again_for_each_late_span():
    assert choose(now=1, has_root=True, is_cut=True, span_count=10, closed_before=True) == (
        after(6),
        ClosingReason.QUIET,
    )


@given(
    now=st.floats(0, 10_000),
    known=st.fixed_dictionaries(
        {}, optional={name: st.booleans() for name in ("has_root", "has_end_marker", "is_whole", "is_cut")}
    ),
)
def test_it_is_closed_within_the_longest_wait_after_it_was_opened_or_at_once(now, known):
    assert choose(now=now, **known).at <= max(after(600), after(now))


@pytest.mark.parametrize(
    ("value", "is_marked"),
    [(True, True), ("true", True), ("True", True), (False, False), ("false", False), (1, False), ({}, False)],
)
def test_the_end_marker_is_a_true_attribute(value, is_marked):
    assert has_end_marker(make_span(1, attributes={"ragsonde.trace.end": value})) is is_marked


def test_a_root_has_no_parent():
    assert is_root(make_span(1))
    assert not is_root(make_span(2, 1))


@pytest.mark.parametrize(
    "wrong", [{"quiet_seconds": -1}, {"spans_at_most": 0}, {"no_root_seconds": float("nan")}]
)
def test_times_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValidationError):
        ClosingTimes(**wrong)
