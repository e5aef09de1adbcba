"""`ragsonde parked` and `ragsonde ledger` over a real Postgres, with a broker in memory."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import make_result, make_trace, plan_free, plan_paid
from fakes.traces import make_envelope
from ragsonde.cli.main import run
from ragsonde.cli.replaying import NO_KEY, OUT_OF_BACKFILL, TAKEN, Done, Replays, find_returned
from ragsonde.intake.work_message import FILE_MESSAGE, wrap_key
from ragsonde.storage.parked_choice import ParkedChoice, select_parked
from ragsonde.storage.replaying import holding_parked
from ragsonde_schemas.errors import BrokerLostError, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.open_record import OpenRecordKey
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


class Broker:
    """Keeps what is published; away where a test says so."""

    def __init__(self):
        self.again, self.work, self.is_away = [], [], False

    def publish_again(self, envelope):
        self._require_presence()
        self.again.append(envelope)

    def publish_work(self, keys, *, queue="ragsonde.work"):  # noqa: ARG002 - as the port
        self._require_presence()
        self.work.extend(keys)

    def _require_presence(self):
        if self.is_away:
            raise BrokerLostError("away")


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(), engine)


@pytest.fixture
def broker():
    return Broker()


def park(stores, envelope, *, reason=ParkReason.INTERNAL_ERROR):
    stores.parking.park(envelope, reason=reason, message="found a fault", where="body")


def park_many(stores, number, *, body=b"{"):
    for place in range(number):
        park(
            stores,
            make_envelope(body).model_copy(update={"message_key": f"m-{place}"}),
            reason=ParkReason.INVALID_JSON,
        )


def replay(stores, broker, **options):
    replays = Replays(stores.engine, broker, queued_seconds=150, now=stores.clock.now, **options)
    messages = select_parked(stores.engine, ParkedChoice(takes_all=True), is_oldest_first=True)
    return [(one.done, one.told) for one in replays.run(messages, rate=None)]


def list_waiting(stores):
    return [one.message_key for one in select_parked(stores.engine, ParkedChoice())]


def fail(stores, *, queue="ragsonde.work"):
    (key,) = stores.traces.admit(make_trace(), (plan_paid(),)).pending
    stores.traces.finish(stores.traces.claim(key), make_result(EvaluationState.FAILED))
    park(stores, wrap_key(key).model_copy(update={"queue": queue}))
    return key


def test_a_failed_evaluation_is_opened_and_its_key_published_after_that(stores, broker):
    key = fail(stores)
    seen = []
    broker.publish_work = lambda keys: seen.append((keys, stores.look(key).state))
    assert replay(stores, broker) == [(Done.PUBLISHED, "")]
    assert seen == [([key], EvaluationState.WAITING)]
    assert list_waiting(stores) == []


def test_where_the_broker_is_away_an_opened_evaluation_is_left_to_the_sweeper(stores, broker):
    key = fail(stores)
    broker.is_away = True
    ((done, told),) = replay(stores, broker)
    assert (done, "monitor" in told) == (Done.PUBLISHED, True)
    stores.clock.advance(151)
    assert stores.take_due() == [key]


def test_what_cannot_be_judged_again_is_refused_and_stays(stores, broker):
    fail(stores)
    stores.drop_texts(make_trace())
    park(stores, wrap_key(OpenRecordKey(trace_id="f" * 32)))
    park(stores, make_envelope(b'{"no": "key"}').model_copy(update={"queue": "ragsonde.work"}))
    park(stores, make_envelope(b"x" * 10).model_copy(update={"body_bytes": 99}), reason=ParkReason.OVERSIZE)
    found = replay(stores, broker)
    assert {done for done, _ in found} == {Done.REFUSED}
    for (_, told), words in zip(
        found, ("dropped by retention", "retention_days.span", NO_KEY, "only a part"), strict=True
    ):
        assert words in told
    assert (len(list_waiting(stores)), broker.work, broker.again) == (4, [], [])


def test_a_message_of_a_backfills_file_comes_again_as_a_producers(stores, broker):
    file = {"queue": "ragsonde.backfill", "content_type": None, "published_at": stores.clock.now()}
    taken_in = make_envelope(b'{"trace_id": "t"}').model_copy(update=file)
    lost = make_envelope(b'{"trace_id": "u"}').model_copy(
        update={**file, "content_type": FILE_MESSAGE, "message_id": "7"}
    )
    unknown = lost.model_copy(update={"body": b'{"trace_id": "v"}', "message_key": "b" * 64})
    park(stores, taken_in)
    park(stores, lost, reason=ParkReason.DEAD_LETTER)
    park(stores, unknown, reason=ParkReason.INVALID_MESSAGE)
    as_producers = (Done.PUBLISHED, OUT_OF_BACKFILL)
    assert replay(stores, broker) == [as_producers, (Done.PUBLISHED, ""), as_producers]
    assert [(one.body, one.queue, one.content_type, one.message_id) for one in broker.again] == [
        (taken_in.body, "ragsonde.traces", None, None),
        (lost.body, "ragsonde.backfill", FILE_MESSAGE, "7"),
        (unknown.body, "ragsonde.traces", None, None),
    ]
    assert {one.published_at for one in broker.again} == {stores.clock.now()}
    assert (list_waiting(stores), broker.work) == ([], [])


def test_a_work_message_of_a_backfill_opens_its_evaluation(stores, broker):
    key = fail(stores, queue="ragsonde.backfill")
    assert [done for done, _ in replay(stores, broker)] == [Done.PUBLISHED]
    assert (broker.work, broker.again) == ([key], [])


def test_a_message_goes_back_as_it_came_and_one_that_is_not_confirmed_stays(stores, broker):
    envelope = make_envelope(b"{").model_copy(
        update={"headers": {"traceparent": "00-x"}, "content_type": "application/json", "message_id": "id-1"}
    )
    park(stores, envelope)
    broker.is_away = True
    with pytest.raises(BrokerLostError):
        replay(stores, broker)
    assert len(list_waiting(stores)) == 1
    broker.is_away = False
    assert replay(stores, broker) == [(Done.PUBLISHED, "")]
    assert replay(stores, broker) == [(Done.TAKEN, TAKEN)]
    assert broker.again == [envelope]


def test_what_is_parked_again_is_found_and_what_is_not_is_not_waited_for_longer(stores, broker):
    first, second = (
        make_envelope(b"{").model_copy(update={"message_key": name}) for name in ("again", "gone")
    )
    park(stores, first)
    park(stores, second)
    ids = [one.id for one in select_parked(stores.engine, ParkedChoice(), is_oldest_first=True)]
    assert [done for done, _ in replay(stores, broker)] == [Done.PUBLISHED, Done.PUBLISHED]
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        if len(looks) == 2:
            park(stores, first)

    assert find_returned(stores.engine, ids[:1], seconds=60, sleep=sleep) == ids[:1]
    assert len(looks) == 2
    assert find_returned(stores.engine, ids, seconds=0) == ids[:1]
    assert find_returned(stores.engine, [], seconds=60) == []


def test_two_who_replay_at_once_publish_once(stores, broker):
    park_many(stores, 1)
    (message,) = select_parked(stores.engine, ParkedChoice())
    with holding_parked(stores.engine, message.id, takes_all=False):
        assert replay(stores, broker) == [(Done.TAKEN, TAKEN)]
    assert broker.again == []


@pytest.fixture
def call(own_engine, database_url, monkeypatch, capsys, tmp_path):
    """Runs a command in this process: its exit code, what it wrote, and the stores it ran on."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSONDE_DATABASE_URL", database_url)
    stores = PostgresStores(FakeClock(), own_engine)

    def call_command(*arguments):
        with pytest.raises(SystemExit) as ended:
            run(list(arguments))
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    call_command.stores = stores
    return call_command


def test_the_commands_say_what_they_show_and_do(call):
    park_many(call.stores, 25, body=b'{"trace_id": "t-1", "note": "\x1b[31m\xc2\x9b red"')
    code, out, err = call("parked", "list", "--limit", "3")
    assert (code, out.count("invalid_json"), err) == (0, 3, "")
    code, out, _ = call("parked", "show", "1")
    assert (code, "\x1b" in out, "\x9b" in out) == (0, False, False)
    assert ("what to do: mend its producer" in out, '"t-1"' in out) == (True, True)
    shown = json.loads(call("parked", "show", "1", "-o", "json")[1])
    assert (shown["reason"], shown["is_replayable"], shown["headers"]) == ("invalid_json", True, {})
    assert call("parked", "show")[0] == call("parked", "show", "1", "2")[0] == 2
    assert call("parked", "show", "99")[0] == 1

    assert (call("parked", "drop")[0], call("parked", "drop", "--reason", "oversize")[0]) == (2, 1)
    code, out, _ = call("parked", "drop", "--reason", "invalid_json", "--dry-run", "-o", "json")
    assert (code, len(json.loads(out)["drop"])) == (0, 25)
    code, _, err = call("parked", "drop", "--reason", "invalid_json")
    assert (code, "expected --yes" in err) == (2, True)
    assert call("parked", "drop", "1", "2")[1] == "2 dropped\n"
    assert json.loads(call("parked", "drop", "--trace", "t-1", "--yes", "-o", "json")[1]) == {"dropped": 23}
    assert "nothing is parked" in call("parked", "list")[1]
    assert len(json.loads(call("parked", "list", "--all", "-o", "json")[1])) == 25
    code, out, _ = call("why", "t-1")
    assert (code, out.count("somebody decided to leave it")) == (0, 25)
    assert call("parked", "list", "--since", "soon")[0] == 2
    assert call("parked", "list", "--app", "default")[0] == 2


def test_a_broken_ledger_is_told_with_the_trace_and_exit_code_1(call):
    now = datetime.now(UTC)
    stores = PostgresStores(FakeClock(now), call.stores.engine)
    for name in ("t-1", "t-2"):
        stores.traces.admit(make_trace(name, occurred_at=now), (plan_free(), plan_paid()))
    code, out, _ = call("ledger")
    assert (code, "every invariant holds" in out, "2 revisions accepted" in out) == (0, True, True)
    with call.stores.engine.begin() as connection:
        connection.execute(text("DELETE FROM evaluation WHERE trace_id = 't-2' AND judge = 'gpt'"))
    code, out, _ = call("ledger", "-o", "json")
    told = json.loads(out)
    broken = [one for one in told["checks"] if not one["holds"]]
    assert (code, told["holds"], told["states"]["gpt"]) == (1, False, {"waiting": 1})
    assert [(one["invariant"], one["violations"], one["trace_ids"]) for one in broken] == [
        ("revisions_are_whole", 1, ["t-2"])
    ]
    code, out, _ = call("ledger", "--app", "shop", "--since", "1h")
    assert (code, "broken: revisions_are_whole" in out, "t-2" in out) == (1, True, True)
    assert call("ledger", "--app", "default")[0] == 0
    for output in ("table", "json"):
        code, out, err = call("ledger", "--app", "shopp", "--output", output)
        assert (code, out) == (2, "")
        assert "--app shopp: no such app; did you mean shop? (known: shop)" in err
    assert call("ledger", "--app", "shop", "--since", "1m")[0] in {0, 1}
