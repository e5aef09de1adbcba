"""Parked messages in people's hands: chosen, taken by one alone, marked, parked again, dropped; reopening."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from builders.spans import TRACE_ID, make_span
from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_assessment, make_calls, make_result, make_trace, plan_paid
from fakes.traces import make_envelope
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.history import read_history
from ragsonde.storage.parked_choice import ParkedChoice, select_parked
from ragsonde.storage.parking_store import find_parked
from ragsonde.storage.reopening import Reopening, reopen_evaluation, reopen_spans_within
from ragsonde.storage.replaying import drop_parked, holding_parked
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from services.stores import PostgresStores

pytestmark = pytest.mark.integration
S = EvaluationState
HOUR = timedelta(hours=1)


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(), engine)


def park(stores, body=b"{}", *, key="m-1", reason=ParkReason.INVALID_JSON, message="cut off", **fields):
    envelope = make_envelope(body).model_copy(update={"message_key": key, **fields})
    return stores.parking.park(envelope, reason=reason, message=message, where="body")


def find(stores, **choice):
    return [one.message_key for one in select_parked(stores.engine, ParkedChoice(**choice))]


def replay(stores, *, takes_all=False):
    (message,) = select_parked(stores.engine, ParkedChoice(takes_all=True))
    with holding_parked(stores.engine, message.id, takes_all=takes_all) as held:
        if held is not None:
            held.mark_replayed(now=stores.clock.now())
        return held is not None


def test_one_that_was_replayed_is_hidden_until_it_is_parked_for_the_same_reason_again(stores):
    assert park(stores)
    assert not park(stores)
    assert replay(stores)
    assert (find(stores), find(stores, takes_all=True)) == ([], ["m-1"])
    assert not replay(stores)
    assert replay(stores, takes_all=True)
    stores.clock.advance(60)
    assert park(stores, message="still cut off")
    assert not park(stores)
    (again,) = select_parked(stores.engine, ParkedChoice())
    assert (again.message, again.replays, again.replayed_at) == ("still cut off", 2, None)
    assert again.parked_at == NOON + timedelta(seconds=60)


def test_what_is_parked_for_another_reason_is_another_message(stores):
    park(stores)
    replay(stores)
    assert park(stores, reason=ParkReason.BAD_TRACE_ID)
    assert len(find(stores, takes_all=True)) == 2


def test_of_two_who_replay_at_once_one_finds_it_taken(stores):
    park(stores)
    (message,) = select_parked(stores.engine, ParkedChoice())
    with holding_parked(stores.engine, message.id, takes_all=True) as first:
        assert first is not None
        with holding_parked(stores.engine, message.id, takes_all=True) as second:
            assert second is None


def test_where_publishing_fails_nothing_is_marked(stores):
    park(stores)
    (message,) = select_parked(stores.engine, ParkedChoice())

    def fail_to_publish():
        with holding_parked(stores.engine, message.id, takes_all=False) as held:
            held.mark_replayed(now=NOON)
            raise ConnectionError

    with pytest.raises(ConnectionError):
        fail_to_publish()
    assert find(stores) == ["m-1"]


def test_starts_that_were_counted_for_it_begin_anew(stores):
    park(stores)
    for number in (1, 2):
        received_at = NOON + timedelta(seconds=number)
        assert stores.suspects.start("m-1", received_at=received_at) == number
    replay(stores)
    assert stores.suspects.start("m-1", received_at=received_at) == 1


def test_what_is_dropped_is_out_of_the_list_and_stays_dropped_though_it_comes_again(stores):
    park(stores)
    (message,) = select_parked(stores.engine, ParkedChoice())
    assert drop_parked(stores.engine, [message.id], now=NOON) == 1
    assert drop_parked(stores.engine, [message.id], now=NOON) == 0
    assert not park(stores)
    assert not replay(stores)
    assert (find(stores), find(stores, takes_all=True)) == ([], ["m-1"])
    assert replay(stores, takes_all=True)
    assert park(stores)
    assert find(stores) == ["m-1"]


def test_messages_are_chosen_by_all_that_is_known_of_them(stores):
    wire = b'{"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}'
    park(stores, b'{"trace_id": "t-1", "app": "shop"', key="json")
    stores.clock.advance(3600)
    park(stores, wire, key="spans", queue="otlp_spans")
    park(stores, b'{"trace_id": "t-2", "note": "shop"}', key="other", reason=ParkReason.OVER_LIMIT)
    assert find(stores, app="shop") == ["spans", "json"]
    assert find(stores, trace_id="t-2") == ["other"]
    assert find(stores, reasons=(ParkReason.OVER_LIMIT,)) == ["other"]
    assert find(stores, queue="otlp_spans") == ["spans"]
    assert find(stores, until=NOON + HOUR) == ["json"]
    assert find(stores, since=NOON + HOUR) == ["other", "spans"]
    (first, *_) = select_parked(stores.engine, ParkedChoice(), is_oldest_first=True)
    assert find(stores, ids=(first.id,)) == ["json"]
    assert len(select_parked(stores.engine, ParkedChoice(app="shop"), limit=1)) == 1


def test_an_app_is_looked_for_through_many_pages(stores):
    for number in range(120):
        park(stores, b'{"app": "%s"}' % (b"rare" if number == 3 else b"shop"), key=f"m-{number}")
    assert find(stores, app="rare") == ["m-3"]
    assert len(find(stores, app="shop")) == 119


def fail(stores, *, assessment=None):
    (key,) = stores.traces.admit(make_trace(), (plan_paid(),)).pending
    stores.traces.finish(stores.traces.claim(key), make_result(S.FAILED, assessment=assessment))
    return key


def look(stores):
    (evaluation,) = read_history(stores.engine, "t-1").revisions[-1].evaluations
    return evaluation


def test_a_failed_evaluation_is_reopened_and_ends_with_one_set_of_rows(stores):
    key = fail(stores, assessment=make_assessment(calls=make_calls()))
    stores.clock.advance(30 * 3600)
    now = stores.clock.now()
    assert reopen_evaluation(stores.engine, key, now=now, queued_seconds=150) is Reopening.REOPENED
    opened = look(stores)
    assert (opened.state, opened.cause, opened.outcomes, opened.assessment) == (S.WAITING, None, (), None)
    assert (opened.calls, len(opened.replies), opened.attempts) == (2, 2, 1)
    assert stores.take_due() == []
    claimed = stores.traces.claim(key)
    assert (claimed.starts, claimed.unfinished_starts, claimed.waiting_since) == (2, 1, now)
    assert stores.traces.finish(claimed, make_result()) is S.SCORED
    assert {one.status for one in look(stores).outcomes} == {"scored", "error"}
    assert len(look(stores).outcomes) == len(make_result().outcomes)


def test_one_that_nobody_published_is_found_by_the_sweeper(stores):
    key = fail(stores)
    reopen_evaluation(stores.engine, key, now=stores.clock.now(), queued_seconds=150)
    stores.clock.advance(151)
    assert stores.take_due() == [key]


@pytest.mark.parametrize("state", S)
def test_only_what_failed_is_reopened(stores, state):
    key = fail(stores)
    with stores.engine.begin() as connection:
        connection.execute(text("UPDATE evaluation SET state = :state"), {"state": state.value})
    before = look(stores)
    expected = {S.FAILED: Reopening.REOPENED, S.SUPERSEDED: Reopening.SUPERSEDED}
    found = reopen_evaluation(stores.engine, key, now=NOON)
    assert found is expected.get(state, Reopening.NOT_FAILED)
    assert (look(stores) == before) == (state is not S.FAILED)


def test_without_texts_or_row_it_is_not_reopened(stores):
    key = fail(stores)
    stores.drop_texts(make_trace())
    assert reopen_evaluation(stores.engine, key, now=NOON) is Reopening.EXPIRED
    assert look(stores).cause is Cause.NOT_ASSESSED
    unknown = key.model_copy(update={"revision": 3})
    assert reopen_evaluation(stores.engine, unknown, now=NOON) is Reopening.GONE


def reopen_spans(stores, trace_id=TRACE_ID):
    with pipelined_transaction(stores.engine) as connection:
        return reopen_spans_within(connection, trace_id, now=stores.clock.now(), queued_seconds=0)


def test_spans_that_were_given_up_are_closed_as_if_for_the_first_time(stores):
    buffer = PostgresSpanBuffer(stores.engine, clock=stores.clock)
    buffer.absorb([make_span(1)], format_name="otlp_protobuf", whole=frozenset({TRACE_ID}))
    given_up = buffer.claim(TRACE_ID)
    assert reopen_spans(stores) is Reopening.NOT_FAILED
    assert buffer.settle(given_up, admitted=())
    assert buffer.claim(TRACE_ID) is None
    assert reopen_spans(stores) is Reopening.REOPENED
    claimed = buffer.claim(TRACE_ID)
    assert (claimed.unfinished_claims, claimed.closed_before, len(claimed.spans)) == (1, False, 1)
    assert reopen_spans(stores, "f" * 32) is Reopening.GONE


def test_the_history_of_a_trace_tells_what_people_did(stores):
    park(stores, b'{"trace_id": "t-1"}')
    replay(stores)
    (message,) = find_parked(stores.engine, trace_id="t-1")
    assert (message.replays, message.replayed_at) == (1, NOON)
