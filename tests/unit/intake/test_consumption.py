from ragsonde.intake import consumption
from ragsonde.intake.consumption import LONGEST_SILENCE_SECONDS, Consumption


class Loop:
    """Celery's consumer: what is called soon is done when the loop turns."""

    def __init__(self):
        self.task_consumer = self
        self.soon, self.is_consuming = [], True

    def call_soon(self, action):
        self.soon.append(action)

    def turn(self):
        while self.soon:
            self.soon.pop(0)()

    def cancel(self):
        self.is_consuming = False

    def consume(self):
        self.is_consuming = True


def start():
    state, loop = Consumption(), Loop()
    state.on_consuming(loop)
    loop.turn()
    return state, loop


def test_nothing_is_taken_while_postgres_is_away():
    state, loop = start()
    state.on_database(False)
    loop.turn()
    assert not loop.is_consuming
    state.on_database(True)
    loop.turn()
    assert loop.is_consuming


def test_the_last_word_counts_whatever_the_order_in_which_the_loop_hears_them():
    state, loop = start()
    state.on_database(False)
    state.on_database(True)
    loop.soon.reverse()
    loop.turn()
    assert loop.is_consuming


def test_many_threads_that_lose_the_database_brake_once():
    state, loop = start()
    for _ in range(16):
        state.on_database(False)
    assert len(loop.soon) == 1


def test_after_a_reconnect_the_brake_is_still_on():
    state, _ = start()
    state.on_database(False)
    again = Loop()
    state.on_consuming(again)
    again.turn()
    assert not again.is_consuming


def test_a_loop_that_stands_still_is_dead_and_one_that_reconnects_is_not(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(consumption.time, "monotonic", lambda: now[0])
    state, _ = start()
    assert state.is_alive
    assert state.is_connected
    now[0] += LONGEST_SILENCE_SECONDS + 1
    assert not state.is_alive
    assert not state.is_connected
    state.on_connecting()
    assert state.is_alive
    assert not state.is_connected


def test_a_process_that_stops_takes_nothing_more_though_its_loop_still_turns():
    state, loop = Consumption(), Loop()
    loop.is_consuming = False
    state.on_consuming(loop)
    state.on_stopping()
    loop.turn()
    state.on_database(False)
    state.on_database(True)
    loop.turn()
    assert not loop.is_consuming
