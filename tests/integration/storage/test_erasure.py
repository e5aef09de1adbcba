"""Erasing: nothing of it is left anywhere, it does not come back, and all that is others' stays."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from datetime import timedelta

import pytest
from sqlalchemy import text

from builders.spans import make_span
from fakes.clock import NOON, FakeClock
from fakes.evaluations import (
    FREE,
    PAID,
    make_assessment,
    make_calls,
    make_outcomes,
    make_result,
    make_trace,
    plan_free,
    plan_paid,
)
from fakes.traces import make_envelope
from ragsonde.cli.parked_advice import NOTHING, advise, tell_parked
from ragsonde.cli.replaying import Done, Replays
from ragsonde.monitor.upkeep import Upkeep
from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.check_traces import add_checks, list_candidates
from ragsonde.storage.erasure import Erasing, count_erasable, erase
from ragsonde.storage.erasure_choice import ErasureChoice
from ragsonde.storage.judge_states import PostgresJudgeStates
from ragsonde.storage.parked_choice import ParkedChoice, select_parked
from ragsonde.storage.rescored import RescoredEvaluation, store_rescored
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.tables import Tables
from ragsonde.storage.text_keeping import TextRule
from ragsonde.storage.tombstones import drop_expired_tombstones, read_forgotten
from ragsonde_schemas.body_names import BodyNames
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.spending import Limit, Period, Reservation, WorstCase
from services.everywhere import search_everywhere
from services.stores import PostgresStores
from services.waiting import wait_for

pytestmark = pytest.mark.integration

X = "ximena@example.org"
SECRET = "XIMENA-HER-WORDS"
LATER = NOON + timedelta(hours=1)
HOW = Erasing(now=LATER, keep_tombstones_days=91)
OF_X = ErasureChoice(user=X)


class Shop:
    """Stores of traces, spans and messages on one clock, an hour after noon."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.clock = FakeClock(LATER)
        self.stores = PostgresStores(self.clock, engine)
        self.spans = PostgresSpanBuffer(engine, clock=self.clock)

    def admit(self, trace, *planned):
        return self.stores.traces.admit(trace, planned or (plan_free(),))

    def admit_x(self, trace_id="x-1", **fields):
        return self.admit(make_trace(trace_id, answer=SECRET, **{"user_id": X, **fields}))

    def absorb(self, *spans):
        return self.spans.absorb(spans, format_name="otlp_json", whole=frozenset())

    def park(self, body, **fields):
        envelope = make_envelope(body, received_at=self.clock.now()).model_copy(update=fields)
        self.stores.parking.park(envelope, reason=ParkReason.INVALID_JSON, message="it is not", where="body")
        return envelope

    def choose_checks(self):
        found = list_candidates(self.engine, app="shop", now=self.clock.now(), days=3)
        return add_checks(self.engine, found, now=self.clock.now())

    def read(self, statement, **values):
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), values)]


@pytest.fixture
def shop(engine):
    return Shop(engine)


def make_paid_result():
    return make_result(assessment=make_assessment(calls=make_calls()))


def fill_everything(shop):
    """X in every table: whole traces, a reply of a paid judge, a copy, spans and messages."""
    shop.admit_x()
    claimed_of = shop.admit(
        make_trace("x-2", answer=f"{SECRET} 2", user_id=X), plan_free(), plan_paid()
    ).pending
    claimed = shop.stores.traces.claim(claimed_of[0])
    shop.stores.traces.finish(claimed, make_paid_result())
    shop.admit(make_trace("x-3", answer=f"{SECRET} 3", metadata={"tenant": {"enduser.id": X}}))
    shop.choose_checks()
    shop.absorb(
        make_span(1, attributes={"user.id": X, "input.value": SECRET})._replace(trace_id="x-4"),
        make_span(2, attributes={"input.value": SECRET})._replace(trace_id="x-4"),
    )
    torn = json.dumps({"trace_id": "x-5", "user_id": X, "query": SECRET}).encode()[:-1]
    shop.park(torn)
    shop.park(gzip.compress(torn))
    shop.park(json.dumps({"trace_id": "x-1", "answer": SECRET}).encode())
    shop.park(b"\x0a\x07user.id\x12\x14\x0a\x12" + X.encode() + SECRET.encode())


def fill_others(shop):
    """Others: one whose id begins as X's, one who is spoken of X to, and a message of theirs."""
    shop.admit(make_trace("o-1", answer="one", user_id=f"{X}.mx"), plan_free(), plan_paid())
    shop.admit(make_trace("o-2", answer="two", metadata={"recipient": X}), plan_free(), plan_paid())
    shop.absorb(make_span(1, attributes={"user.id": "yan", "peer": X})._replace(trace_id="o-3"))
    shop.park(json.dumps({"trace_id": "o-4", "user_id": "yan", "query": f"write to {X}"}).encode()[:-1])


def test_of_a_user_no_byte_is_left_anywhere_and_all_that_is_others_stays(shop):
    fill_others(shop)
    before = {table: shop.read(f"SELECT count(*) FROM {table}") for table in Tables.metadata.tables}  # noqa: S608
    fill_everything(shop)
    erased = erase(shop.engine, OF_X, HOW)
    assert search_everywhere(shop.engine, SECRET) == []
    for number in range(1, 6):
        assert search_everywhere(shop.engine, f"x-{number}") == []
    assert shop.read("SELECT trace_id FROM trace WHERE user_id = :x", x=X) == []
    after = {table: shop.read(f"SELECT count(*) FROM {table}") for table in Tables.metadata.tables}  # noqa: S608
    tombstones = {"tombstone", "tombstone_salt"}
    copies = {"check_set"}  # others' traces were copied meanwhile
    marks = {"dirty_mark"}  # where they had been counted
    for table in before.keys() - tombstones - copies - marks:
        assert (table, after[table]) == (table, before[table])
    assert erased["traces"] == 4
    assert erased["parked_message"] == 4


def test_evaluations_still_add_up_to_revisions(shop):
    fill_others(shop)
    fill_everything(shop)
    erase(shop.engine, OF_X, HOW)
    ((revisions,),) = shop.read("SELECT count(*) FROM trace")
    assert revisions == 2
    assert shop.read("SELECT judge, count(*) FROM evaluation GROUP BY judge ORDER BY judge") == [
        (PAID, revisions),
        (FREE, revisions),
    ]
    orphans = "SELECT count(*) FROM {} c WHERE NOT EXISTS (SELECT FROM trace t WHERE t.trace_id = c.trace_id)"
    for table in ("trace_text", "evaluation", "assessment", "judge_reply", "score"):
        assert shop.read(orphans.format(table)) == [(0,)]


def test_a_dry_run_counts_what_is_then_erased_and_changes_nothing(shop):
    fill_others(shop)
    fill_everything(shop)
    foreseen = count_erasable(shop.engine, OF_X)
    assert search_everywhere(shop.engine, "x-1") != []
    assert shop.read("SELECT count(*) FROM tombstone") == [(0,)]
    erased = erase(shop.engine, OF_X, HOW)
    assert {**foreseen, "suspect": 0} == {**erased, "suspect": 0}
    assert foreseen["judge_reply"] > 0


def test_tombstones_hold_no_byte_of_what_they_name(shop):
    shop.admit_x()
    erase(shop.engine, OF_X, HOW)
    assert shop.read("SELECT count(*) FROM tombstone") == [(2,)]
    assert search_everywhere(shop.engine, X) == []


def test_a_message_of_an_erased_user_does_not_come_back(shop):
    shop.admit_x()
    erase(shop.engine, OF_X, HOW)
    shop.clock.advance(60)
    assert shop.admit_x().kind == "forgotten"
    assert shop.admit_x("x-unseen").kind == "forgotten"
    assert shop.admit_x(
        "x-guessed", occurred_at=LATER + timedelta(hours=2), occurred_at_guessed=True
    ).kind == ("forgotten")
    assert shop.read("SELECT count(*) FROM trace") == [(0,)]


def test_a_user_may_come_back_with_what_occurs_later(shop):
    shop.admit_x()
    erase(shop.engine, OF_X, HOW)
    assert shop.admit_x("x-new", occurred_at=LATER + timedelta(seconds=1)).kind == "new"
    assert shop.admit_x("x-1", occurred_at=LATER + timedelta(seconds=1)).kind == "forgotten"
    guessed = {"occurred_at": LATER + timedelta(days=1), "occurred_at_guessed": True}
    assert shop.admit_x("x-newer", **guessed).kind == "new"


def test_late_spans_of_an_erased_trace_are_not_kept_and_others_of_their_message_are(shop):
    shop.admit_x()
    erase(shop.engine, ErasureChoice(trace="x-1"), HOW)
    late = make_span(7)._replace(trace_id="x-1")
    other = make_span(8)._replace(trace_id="o-1")
    absorbed = {one.trace_id: one for one in shop.absorb(late, other)}
    assert absorbed["x-1"].is_forgotten
    assert absorbed["o-1"].new_spans == 1
    assert shop.read("SELECT trace_id FROM span_buffer") == [("o-1",)]
    assert shop.read("SELECT trace_id FROM open_record") == [("o-1",)]


def test_spans_of_a_trace_that_is_refused_for_its_user_go_and_those_that_come_after_them(shop):
    erase(shop.engine, OF_X, HOW)
    shop.absorb(make_span(1)._replace(trace_id="x-8"))
    assert shop.admit_x("x-8").kind == "forgotten"
    assert shop.read("SELECT count(*) FROM span_buffer") == [(0,)]
    (late,) = shop.absorb(make_span(2)._replace(trace_id="x-8"))
    assert late.is_forgotten


def test_of_a_message_that_is_parked_after_its_user_was_erased_only_that_it_came_is_kept(shop):
    erase(shop.engine, OF_X, HOW)
    published = {"published_at": NOON, "message_id": X, "headers": {"x": SECRET}}
    envelope = shop.park(json.dumps({"trace_id": "x-9", "user_id": X, "query": SECRET}).encode(), **published)
    shop.park(b'{"user_id": "yan"')
    assert shop.read("SELECT length(body), body_bytes FROM parked_message ORDER BY id") == [
        (0, envelope.body_bytes),
        (17, 17),
    ]
    assert search_everywhere(shop.engine, SECRET) == search_everywhere(shop.engine, X) == []


def test_an_app_is_erased_and_welcome_again(shop):
    shop.admit(make_trace("d-1", answer="one", app="demo"))
    shop.admit(make_trace("d-1", answer="one"))
    erase(shop.engine, ErasureChoice(app="demo"), HOW)
    assert shop.read("SELECT app, trace_id FROM trace") == [("shop", "d-1")]
    replayed = shop.admit(make_trace("d-1", answer="one", app="demo"))
    assert replayed.kind == "forgotten"
    tomorrow = shop.admit(
        make_trace("d-1", answer="one", app="demo", occurred_at=LATER + timedelta(minutes=1))
    )
    assert tomorrow.kind == "new"
    assert shop.admit(make_trace("d-1", answer="two")).kind == "revision"


def test_what_occurred_before_a_day_is_erased_and_nothing_else(shop):
    shop.admit(make_trace("old", answer="one", occurred_at=NOON - timedelta(days=1)))
    shop.admit(make_trace("new", answer="two"))
    shop.park(b"{", published_at=NOON - timedelta(days=1))
    shop.park(b"[")
    erase(shop.engine, ErasureChoice(before=NOON.date()), HOW)
    assert shop.read("SELECT trace_id FROM trace") == [("new",)]
    assert shop.read("SELECT body FROM parked_message") == [(b"[",)]


def test_several_criteria_must_all_be_true(shop):
    shop.admit_x("x-1", session_id="s-1")
    shop.admit_x("x-2", session_id="s-2")
    shop.admit_x("x-3", session_id="s-1", app="desk")
    erase(shop.engine, ErasureChoice(user=X, session="s-1", app="shop"), HOW)
    assert shop.read("SELECT trace_id FROM trace ORDER BY 1") == [("x-2",), ("x-3",)]


def test_a_user_is_found_in_every_form_in_which_he_is_stored(shop):
    shop.admit_x("x-1", user_id="hmac-of-the-old-key")
    shop.admit_x("x-2", user_id="hmac-of-the-new-key")
    shop.admit_x("x-3", user_id=None, extra={"userId": "hmac-of-the-old-key"})
    shop.absorb(make_span(1, attributes={"user.id": "hmac-of-the-new-key"})._replace(trace_id="x-4"))
    erase(
        shop.engine, ErasureChoice(user=X, stored_users=("hmac-of-the-old-key", "hmac-of-the-new-key")), HOW
    )
    assert shop.read("SELECT count(*) FROM trace") == shop.read("SELECT count(*) FROM span_buffer") == [(0,)]
    assert shop.admit_x("x-5", user_id="hmac-of-the-new-key").kind == "forgotten"


def test_what_a_running_evaluation_holds_of_a_budget_is_given_back_and_what_it_cost_is_counted(shop):
    worst = WorstCase(calls=3, tokens=3_000, cost_usd=0.03)
    limits = {PAID: (Limit(period=Period.DAY, calls=100),)}
    budgets = PostgresBudgets(
        shop.engine,
        clock=shop.clock,
        limits=limits,
        on_pause=PostgresJudgeStates(shop.engine, clock=shop.clock).pause,
    )
    (key,) = shop.admit(make_trace("x-1", user_id=X), plan_paid()).pending
    claimed = shop.stores.traces.claim(key)
    assert budgets.reserve(claimed, lambda: worst) is Reservation.HELD
    erase(shop.engine, OF_X, HOW)
    held = "SELECT reserved_calls, spent_calls FROM judge_spend WHERE period = 'day'"
    assert shop.read(held) == [(0, 0)]
    assert shop.stores.traces.finish(claimed, make_paid_result()) is None
    assert shop.read(held) == [(0, len(make_calls()))]
    assert search_everywhere(shop.engine, "x-1") == []


def test_every_end_of_a_run_whose_trace_was_erased_writes_nothing(shop):
    pending = [
        shop.admit(make_trace(f"x-{n}", answer=str(n), user_id=X), plan_paid()).pending[0] for n in range(3)
    ]
    claimed = [shop.stores.traces.claim(key) for key in pending]
    shop.absorb(make_span(1, attributes={"user.id": X})._replace(trace_id="x-s"))
    shop.clock.advance(3600)
    gathered = shop.spans.claim("x-s")
    erase(shop.engine, OF_X, HOW)
    traces = shop.stores.traces
    assert traces.finish(claimed[0], make_paid_result()) is None
    assert not traces.postpone(claimed[1], until=LATER, cause=Cause.JUDGE_UNAVAILABLE, calls=make_calls())
    assert not traces.shed(claimed[2], cause=Cause.BUDGET_SPENT)
    traces.warn(pending[0].trace, revision=1, subject="late spans", text="came")
    assert traces.withdraw(pending[0].trace) is None
    assert not shop.spans.settle(gathered, admitted=())
    rescored = RescoredEvaluation(pending[0], None, NOON, make_outcomes())
    assert store_rescored(shop.engine, [rescored]) == (0, 0)
    for number in range(3):
        assert search_everywhere(shop.engine, f"x-{number}") == []
    assert search_everywhere(shop.engine, "x-s") == []


def test_a_trace_that_is_stored_at_the_moment_of_erasing_is_erased_and_keeps_nobody_waiting(
    shop, monkeypatch
):
    """Its admission has found no tombstone yet, and commits when there is one."""
    has_looked, may_commit = threading.Event(), threading.Event()

    def read_slowly(cursor):
        forgotten = read_forgotten(cursor)
        if threading.current_thread() is storing:
            has_looked.set()
            may_commit.wait(20)
        return forgotten

    monkeypatch.setattr("ragsonde.storage.admission.read_forgotten", read_slowly)
    storing = threading.Thread(target=shop.admit_x)
    erasing = threading.Thread(target=erase, args=(shop.engine, OF_X, HOW))
    storing.start()
    assert has_looked.wait(20)
    erasing.start()
    wait_for(lambda: shop.read("SELECT count(*) FROM tombstone") == [(1,)])
    assert shop.admit(make_trace("o-1", answer="other")).kind == "new"
    may_commit.set()
    storing.join(20)
    erasing.join(20)
    assert shop.read("SELECT trace_id FROM trace") == [("o-1",)]


def test_the_place_of_a_backfill_does_not_name_it_and_comes_before_it(shop):
    shop.admit_x("x-1234")
    place = json.dumps({"day": "2026-06-15", "trace_id": "x-1234", "app": "shop"})
    insert = (
        "INSERT INTO backfill (since, until, sample, rate_per_second, state, created_at, paced_at, place)"
        " VALUES ('2026-06-15', '2026-06-15', 1, 1, 'running', now(), now(), :place)"
    )
    with shop.engine.begin() as connection:
        connection.execute(text(insert), {"place": place})
    erase(shop.engine, OF_X, HOW)
    assert shop.read("SELECT place FROM backfill") == [({**json.loads(place), "trace_id": "x-1"},)]


def test_tombstones_are_dropped_when_nothing_can_come_back(shop):
    shop.admit_x()
    erase(shop.engine, OF_X, HOW)
    assert drop_expired_tombstones(shop.engine, now=LATER + timedelta(days=91)) == 0
    assert drop_expired_tombstones(shop.engine, now=LATER + timedelta(days=91, seconds=1)) == 2


def test_retention_drops_tombstones_too(shop):
    erase(shop.engine, OF_X, HOW)
    shop.clock.advance(92 * 86_400)
    now = shop.clock.now()
    upkeep = Upkeep(
        engine=shop.engine,
        clock=shop.clock,
        retention_days={},
        texts=TextRule(),
        read_database_time=lambda _: now,
    )
    upkeep.drop_partitions()
    assert shop.read("SELECT count(*) FROM tombstone") == [(0,)]


def test_erasing_again_changes_nothing_and_live_traffic_goes_on_between_batches(shop, monkeypatch):
    monkeypatch.setattr("ragsonde.storage.erasure.BATCH_TRACES", 2)
    for number in range(5):
        shop.admit_x(f"x-{number}")
    done = []

    def admit_other(count):
        done.append(count)
        shop.admit(make_trace(f"o-{count}", answer=str(count)))

    how = Erasing(now=LATER, keep_tombstones_days=91, on_traces=admit_other)
    assert erase(shop.engine, OF_X, how)["traces"] == 5
    assert done == [2, 4, 5]
    assert erase(shop.engine, OF_X, HOW)["traces"] == 0
    assert shop.read("SELECT count(*) FROM trace") == [(3,)]


def test_backfills_are_locked_before_any_row_of_theirs_so_nobody_waits_for_who_waits_for_him(engine):
    shop = Shop(engine)
    shop.admit_x()
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO backfill (since, until, sample, rate_per_second, state, created_at, paced_at)"
                " VALUES (current_date, current_date, 1, 1, 'running', now(), now())"
            )
        )
    eraser = threading.Thread(target=erase, args=(engine, OF_X, HOW))
    with engine.begin() as reserving:
        reserving.execute(text("SELECT FROM backfill FOR UPDATE"))
        eraser.start()
        wait_for(
            lambda: shop.read(
                "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ),
            seconds=20,
            what="an erasure that waits",
        )
        (locked,) = reserving.execute(text("SELECT trace_id FROM evaluation FOR UPDATE NOWAIT")).all()
    eraser.join(timeout=20)
    assert locked.trace_id == "x-1"
    assert shop.read("SELECT FROM evaluation") == []


def test_what_names_its_user_late_takes_along_what_was_stored_of_the_trace(shop):
    shop.admit(make_trace("x-1", answer=SECRET), plan_free(), plan_paid())
    shop.admit(make_trace("o-1", answer="one"))
    erase(shop.engine, OF_X, HOW)
    shop.clock.advance(60)
    assert shop.admit_x("x-1", query="another").kind == "forgotten"
    assert search_everywhere(shop.engine, SECRET) == search_everywhere(shop.engine, "x-1") == []
    assert shop.read("SELECT trace_id FROM trace") == [("o-1",)]
    assert shop.admit(make_trace("x-1", answer=SECRET)).kind == "forgotten"


def test_a_producer_whose_clock_is_ahead_does_not_get_round_it(shop):
    erase(shop.engine, OF_X, HOW)
    ahead = {"occurred_at": LATER + timedelta(hours=3)}
    assert shop.admit_x("x-ahead", **ahead).kind == "forgotten"
    shop.park(json.dumps({"user_id": X, "query": SECRET}).encode(), published_at=LATER + timedelta(hours=3))
    assert search_everywhere(shop.engine, SECRET) == []
    shop.clock.advance(3 * 3600)
    assert shop.admit_x("x-then", **ahead).kind == "new"


def test_a_parked_message_is_found_by_what_was_noted_of_it_whatever_its_body(shop):
    names = BodyNames(
        users=frozenset({"5f:pseudonym"}), sessions=frozenset({"s-1"}), traces=frozenset({"t-1"})
    )
    for body in (b"\x0a****", b""):
        shop.park(body, names=names, message_key=f"key-{len(body)}")
    shop.park(b"\x0a***", names=BodyNames(), message_key="of-others")
    for choice in (
        ErasureChoice(user="ada", stored_users=("5f:pseudonym",)),
        ErasureChoice(session="s-1"),
        ErasureChoice(trace="raw", stored_traces=("t-1",)),
    ):
        assert count_erasable(shop.engine, choice)["parked_message"] == 2
    assert search_everywhere(shop.engine, "s-1") == []
    erase(shop.engine, ErasureChoice(user="ada", stored_users=("5f:pseudonym",)), HOW)
    assert shop.read("SELECT message_key FROM parked_message") == [("of-others",)]
    shop.park(b"\x0a*****", names=names, published_at=NOON)
    assert shop.read("SELECT length(body) FROM parked_message ORDER BY id") == [(4,), (0,)]


def test_a_deflated_message_is_found_and_stays_away(shop):
    body = zlib.compress(json.dumps({"user_id": X, "query": SECRET}).encode())
    shop.park(body, content_encoding="deflate", published_at=NOON)
    assert erase(shop.engine, OF_X, HOW)["parked_message"] == 1
    shop.park(body, content_encoding="deflate", published_at=NOON)
    assert shop.read("SELECT length(body) FROM parked_message") == [(0,)]


def test_what_was_erased_when_it_was_parked_does_not_wait_for_anybody(shop):
    erase(shop.engine, OF_X, HOW)
    shop.park(json.dumps({"user_id": X}).encode(), published_at=NOON)
    assert select_parked(shop.engine, ParkedChoice()) == ()
    (message,) = select_parked(shop.engine, ParkedChoice(takes_all=True))
    assert message.is_erased
    assert advise(message) == NOTHING
    assert "send it again" not in " ".join(tell_parked(message))
    (done,) = Replays(shop.engine, None, queued_seconds=1, takes_all=True).run([message], rate=None)
    assert done.done is Done.ERASED


def test_of_a_trace_that_is_not_stored_none_is_counted_and_it_is_kept_away(shop):
    unknown = ErasureChoice(trace="typo")
    assert count_erasable(shop.engine, unknown)["traces"] == 0
    assert erase(shop.engine, unknown, HOW)["traces"] == 0
    assert shop.admit_x("typo").kind == "forgotten"
    shop.admit(make_trace("o-1", answer="one"))
    assert erase(shop.engine, ErasureChoice(trace="o-1"), HOW)["traces"] == 1
