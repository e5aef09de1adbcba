"""Checks that say whether the process works, within their time."""

from threading import Event

from ragsonde.exposition.health import Health, Heartbeat
from ragsonde_schemas.errors import BrokerLostError


def test_nothing_is_wrong_when_every_check_is_content():
    assert Health({"broker": lambda: None, "database": lambda: None}).find_problems() == {}


def test_each_failing_part_is_named():
    def lose_broker() -> None:
        raise BrokerLostError("amqp://127.0.0.1:5672//: connection refused")

    def leak_password() -> None:
        raise OSError("postgresql://user:secret@host")

    health = Health(
        {"loop": lambda: "stands", "broker": lose_broker, "database": leak_password, "disk": lambda: None}
    )
    assert health.find_problems() == {
        "loop": "stands",
        "broker": "amqp://127.0.0.1:5672//: connection refused",
        "database": "OSError",
    }


def test_a_hanging_check_fails_in_time_and_is_not_started_twice():
    release = Event()
    starts: list[int] = []

    def hang() -> None:
        starts.append(1)
        release.wait(10)

    health = Health({"database": hang, "broker": lambda: None}, timeout_seconds=0.05)
    try:
        assert health.find_problems() == {"database": "no answer within 0.05 s"}
        assert health.find_problems() == {"database": "no answer within 0.05 s"}
        assert len(starts) == 1
    finally:
        release.set()


def test_a_check_that_came_back_is_asked_again():
    answers = iter(["broken", None])
    health = Health({"database": lambda: next(answers)})
    assert health.find_problems() == {"database": "broken"}
    assert health.find_problems() == {}


def test_a_heart_that_stands_still_fails_after_its_time():
    now = [0.0]
    heartbeat = Heartbeat(max_age_seconds=60, monotonic=lambda: now[0])
    now[0] = 60.0
    assert heartbeat.check() is None
    now[0] = 61.0
    assert heartbeat.check() == "has not turned for 61 s, expected once in 60 s"
    heartbeat.beat()
    assert heartbeat.check() is None
