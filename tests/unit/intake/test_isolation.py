import threading

import pytest

from ragsonde.intake.isolation import ThreadIsolation

SECONDS = 5


def start(target):
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def test_shared_work_runs_side_by_side():
    isolation, both = ThreadIsolation(), threading.Barrier(2, timeout=SECONDS)

    def share():
        with isolation.hold(alone=False):
            both.wait()

    threads = [start(share), start(share)]
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads)


def test_a_suspect_waits_until_nobody_shares_and_then_has_the_process_alone():
    isolation, entered, leave = ThreadIsolation(), threading.Event(), threading.Event()
    order = []

    def share():
        with isolation.hold(alone=False):
            entered.set()
            leave.wait(SECONDS)
            order.append("shared ends")

    def suspect():
        with isolation.hold(alone=True):
            order.append("alone")

    sharing = start(share)
    assert entered.wait(SECONDS)
    alone = start(suspect)
    leave.set()
    for thread in (sharing, alone):
        thread.join(SECONDS)
    assert order == ["shared ends", "alone"]


def test_those_who_wait_to_be_alone_go_before_latecomers():
    isolation, order = ThreadIsolation(), []
    entered, leave = threading.Event(), threading.Event()

    def run(name, *, alone):
        with isolation.hold(alone=alone):
            entered.set()
            leave.wait(SECONDS)
            order.append(name)

    sharing = start(lambda: run("first", alone=False))
    assert entered.wait(SECONDS)
    waiting = start(lambda: run("alone", alone=True))
    deadline = threading.Event()
    while not isolation._waiting_alone:
        assert not deadline.wait(0.005)
    late = start(lambda: run("late", alone=False))
    leave.set()
    for thread in (sharing, waiting, late):
        thread.join(SECONDS)
    assert order == ["first", "alone", "late"]


def test_what_a_thread_holds_counts_for_everything_inside():
    isolation = ThreadIsolation()
    with isolation.hold(alone=False), isolation.hold(alone=True), isolation.hold(alone=False):
        pass
    with isolation.hold(alone=True):
        pass
    assert isolation._sharing == 0
    assert not isolation._is_alone


def test_an_exception_leaves_the_lock_free():
    isolation = ThreadIsolation()
    for alone in (True, False):
        with pytest.raises(ZeroDivisionError), isolation.hold(alone=alone):
            _ = 1 / 0
    with isolation.hold(alone=True):
        assert isolation._is_alone


def test_it_is_told_where_something_cannot_be_alone_inside_of_shared_work():
    isolation = ThreadIsolation()
    with isolation.hold(alone=False) as is_shared, isolation.hold(alone=True) as is_alone:
        assert (is_shared, is_alone) == (True, False)
    with isolation.hold(alone=True), isolation.hold(alone=True) as is_alone:
        assert is_alone
