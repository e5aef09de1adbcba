import threading

import pytest

from ragsonde.api.daemons import map_in_order

PATIENCE_SECONDS = 30


def test_results_come_in_the_order_of_the_items_whoever_is_done_first():
    is_second_done = threading.Event()

    def work(item):
        if item == 1:
            assert is_second_done.wait(PATIENCE_SECONDS)
        elif item == 2:
            is_second_done.set()
        return item * 10

    assert list(map_in_order(work, [1, 2, 3], threads=2)) == [10, 20, 30]


def test_no_item_is_no_result():
    assert list(map_in_order(str, [], threads=4)) == []


def test_an_error_comes_when_what_runs_is_done_and_nothing_is_begun_after_it():
    begun, done = {}, []
    is_second_begun = threading.Event()

    def work(item):
        begun[item] = threading.current_thread()
        if item == 0:
            assert is_second_begun.wait(PATIENCE_SECONDS)
            raise ValueError("zero")
        is_second_begun.set()
        begun[0].join(PATIENCE_SECONDS)
        done.append(item)

    with pytest.raises(ValueError, match="zero"):
        list(map_in_order(work, range(9), threads=2))

    assert sorted(begun) == [0, 1]
    assert done == [1]


def test_a_caller_that_leaves_does_not_wait_for_what_hangs():
    may_end = threading.Event()
    hanging = []

    def work(item):
        if item == 0:
            return item
        hanging.append(threading.current_thread())
        may_end.wait(PATIENCE_SECONDS)
        return item

    results = map_in_order(work, range(9), threads=2)

    assert next(results) == 0
    results.close()
    assert not may_end.is_set()
    assert all(thread.daemon for thread in hanging)
    may_end.set()
    for thread in hanging:
        thread.join(PATIENCE_SECONDS)
    assert len(hanging) <= 2
