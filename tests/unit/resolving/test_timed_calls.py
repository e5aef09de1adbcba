import threading

import pytest

from ragsonde.resolving.timed_calls import CallError, TimedCalls
from services.waiting import wait_for


def call(calls, function, *arguments, timeout_seconds=30.0, name="m:f"):
    try:
        return calls.call(function, *arguments, name=name, timeout_seconds=timeout_seconds)
    except CallError as error:
        return str(error)


def test_a_call_gives_what_the_function_gives():
    assert call(TimedCalls(), lambda first, second: [first, second], 1, 2) == [1, 2]


def test_a_coroutine_is_run_to_its_end():
    async def answer(value):
        return value * 2

    assert call(TimedCalls(), answer, 21) == 42


@pytest.mark.parametrize(
    "raised", [ValueError("secret"), SystemExit(3), KeyboardInterrupt(), RecursionError()]
)
def test_whatever_a_function_raises_is_told_by_its_type(raised):
    def fail():
        raise raised

    assert call(TimedCalls(), fail) == f"raised {type(raised).__name__}"


def test_a_call_that_hangs_is_left_behind():
    released = threading.Event()

    assert call(TimedCalls(), released.wait, timeout_seconds=0.05) == "took longer than 0.05 s"
    released.set()


def test_of_one_function_only_so_many_calls_are_left_behind_until_one_ends():
    released = threading.Event()
    calls = TimedCalls(left_behind_at_most=2)
    for _ in range(2):
        call(calls, released.wait, timeout_seconds=0.01)

    assert call(calls, lambda: "called") == "is not called: 2 earlier calls of it still hang"
    assert call(calls, lambda: "called", name="m:other") == "called"
    released.set()
    wait_for(lambda: call(calls, lambda: "called") == "called", what="the hanging calls to end")
