"""Notices of alerts reach each sink at least once and in order, whatever dies; nothing waits for a sink."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import text

from builders.score_counts import join_counts, make_counts
from fakes.http_taker import Answer, serving
from ragsonde.cli.alert_sinks import build_alert_sinks
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.regression.options import GRAFANA, RegressionOptions
from ragsonde.watching import look, notice_jobs
from ragsonde.watching.notice_jobs import MOST_ATTEMPTS, AlertNoticeChores
from ragsonde.watching.notices import NoticeLinks
from ragsonde_schemas.alert_notice import AlertNotice
from ragsonde_schemas.http_place import WEBHOOK
from ragsonde_schemas.score_stream import block_at
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
DAY = 288
WELL = make_counts(days=9, per_block=4, seed=1)
FALL = join_counts(
    WELL,
    make_counts(days=1, per_block=4, mean=0.6, first_day=9, seed=2),
    make_counts(days=2, per_block=4, first_day=10, seed=3),
)
PAGED = 9 * DAY + 96
NOBODY = "http://127.0.0.1:9/"


class Deployment:
    """A stream that was well for nine days, judged with sinks that are configured."""

    def __init__(self, engine, *, app="shop", **options):
        self.options = RegressionOptions(**options)
        self.ground = RegressionGround(engine, options=self.options)
        self.engine = engine
        self.stream = self.ground.add_stream(app=app)
        self.ground.count(self.stream, WELL)
        self.ground.judge(until=9 * DAY)
        self.restart()

    def restart(self):
        """Another monitor."""
        self.series = Series(MONITOR_SERIES)
        self.chores = AlertNoticeChores(
            engine=self.engine,
            clock=self.ground.clock,
            series=self.series,
            sinks=build_alert_sinks(self.options),
            links=NoticeLinks(page="https://rag.example/sonde/"),
        )
        self.jobs = {job.name: job for job in self.chores.build_jobs()}

    def fall(self, *, until=PAGED):
        self.ground.count(self.stream, FALL.between(9 * DAY, until))
        for end in range(9 * DAY + 12, until + 1, 12):
            self.ground.judge(until=end)

    def send(self, sink=WEBHOOK):
        self.jobs[f"alert_{sink}"].run()

    def count(self, name, sink=WEBHOOK):
        found = [
            line
            for line in self.series.render().body.decode().splitlines()
            if line.startswith(f'ragsonde_alert_notices_{name}_total{{sink="{sink}"}}')
        ]
        return float(found[0].split()[-1])

    def mark(self, **columns):
        values = ", ".join(f"{name} = :{name}" for name in columns)
        with self.engine.begin() as connection:
            connection.execute(text(f"UPDATE alert SET {values}"), columns)  # noqa: S608

    def list_open(self):
        return self.ground.query(
            "SELECT sink, event, attempts FROM alert_notice WHERE delivered_at IS NULL "
            "AND dropped_at IS NULL ORDER BY id"
        )


def read(taker):
    return [json.loads(one.body) for one in taker.posted]


def tell(taker):
    return [one["event"] for one in read(taker)]


def test_a_warning_its_page_and_its_end_are_posted_in_order_as_documented(engine):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": f"{taker.url}/hook"})
        deployment.fall(until=12 * DAY)
        deployment.send()
        deployment.send()
        bodies = read(taker)
        (alert,) = deployment.ground.list_alerts()
        assert [one["event"] for one in bodies] == ["warn", "page", "resolve"]
        assert len({one["notice_id"] for one in bodies}) == 3
        assert {one.path for one in taker.posted} == {"/hook"}
        for body in bodies:
            AlertNotice.model_validate(body)
        last = bodies[-1]
        assert last["stream"] == {
            "scorer": "context_precision",
            "judge": "lexical@f",
            "app": "shop",
            "environment": "prod",
        }
        assert last["alert"]["link"] == f"https://rag.example/sonde/falls/{alert['id']}"
        assert last["alert"]["closed_at"] == alert["closed_at"].isoformat().replace("+00:00", "Z")
        assert last["explanation"]["drop"] == alert["explanation"]["drop"]
        assert last["explanation"]["recovery"]["drop"] == alert["explanation"]["recovery"]["drop"]
        assert " of shop, prod fell by 0." in last["summary"]
        assert last["summary"].endswith("it has recovered")
        assert (deployment.count("sent"), deployment.count("failed")) == (3, 0)


def test_what_judging_did_not_commit_is_not_told_and_what_it_did_is(engine, monkeypatch):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.ground.count(deployment.stream, FALL.between(9 * DAY, PAGED))
        with monkeypatch.context() as patch:
            patch.setattr(look, "_list_held", lambda *_: pytest.fail("killed"))
            with pytest.raises(pytest.fail.Exception):
                deployment.ground.judge(until=PAGED)
        deployment.send()
        assert deployment.list_open() == []
        deployment.ground.judge(until=PAGED)
        deployment.restart()
        deployment.send()
        assert tell(taker) == ["warn", "page"] or tell(taker) == ["page"]


def test_killed_after_it_was_taken_it_comes_again_with_the_same_id(engine, monkeypatch):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.fall()
        noted = len(deployment.list_open())

        def die(*_, **__):
            raise RuntimeError("killed")

        with monkeypatch.context() as patch:
            patch.setattr(notice_jobs, "mark_delivered", die)
            with pytest.raises(RuntimeError):
                deployment.send()
        deployment.restart()
        for _ in range(noted):
            deployment.send()
        first, second, *_ = read(taker)
        assert first == second
        assert len({one["notice_id"] for one in read(taker)}) == noted
        assert deployment.list_open() == []


def test_a_sink_that_is_away_is_tried_with_growing_pauses_and_then_given_up(engine, caplog):
    deployment = Deployment(engine, webhook={"url": NOBODY})
    deployment.fall(until=9 * DAY + 60)
    noted = len(deployment.list_open())
    assert noted >= 1
    begun = deployment.ground.clock.now()
    waits = []
    while deployment.count("dropped") == 0:
        (due,) = deployment.ground.query("SELECT due_at FROM alert_notice ORDER BY id LIMIT 1")[0]
        deployment.ground.clock.advance(max(0.0, (due - deployment.ground.clock.now()).total_seconds()))
        waits.append(deployment.ground.clock.now())
        deployment.send()
    assert deployment.ground.query("SELECT max(attempts) FROM alert_notice") == [(MOST_ATTEMPTS,)]
    pauses = [later - earlier for earlier, later in pairwise(waits[:MOST_ATTEMPTS])]
    assert pauses[0] == timedelta(seconds=15)
    assert sorted(pauses) == pauses
    assert max(pauses) == timedelta(hours=1)
    assert timedelta(hours=20) < waits[MOST_ATTEMPTS - 1] - begun < timedelta(hours=30)
    assert deployment.count("dropped") >= 1
    errors = [one for one in caplog.records if one.message == "alert_notice_dropped"]
    assert errors[0].error == "cannot be reached: URLError"
    assert errors[0].levelname == "ERROR"


def test_whatever_a_sink_raises_counts_as_an_attempt_and_its_words_stay_out(engine, caplog):
    class Broken:
        def send(self, _):
            raise OverflowError("s3cret")

    deployment = Deployment(engine, webhook={"url": NOBODY})
    deployment.fall(until=9 * DAY + 60)
    deployment.chores.sinks[WEBHOOK] = Broken()
    deployment.send()
    attempts = [count for _, _, count in deployment.list_open()]
    assert max(attempts) == 1
    assert deployment.count("failed") == 1
    (record,) = [one for one in caplog.records if one.message == "alert_notice_failed"]
    assert (record.error, record.exc_info) == ("failed: OverflowError", None)


def test_a_dead_sink_stops_neither_judging_nor_the_other_one(engine):
    with serving(*[Answer(body=b"[]"), Answer(body=b'{"id": 1}')] * 5) as taker:
        deployment = Deployment(engine, webhook={"url": NOBODY}, grafana={"url": taker.url, "token": "t0ken"})
        deployment.fall()
        deployment.send()
        deployment.send(GRAFANA)
        assert [one.method for one in taker.posted[:2]] == ["GET", "POST"]
        assert {one["kind"] for one in deployment.ground.list_alerts()} == {"page"}
        assert {sink for sink, *_ in deployment.list_open()} == {WEBHOOK}


@pytest.mark.parametrize(
    "answer",
    [
        Answer(500),
        Answer(503, headers=(("retry-after", "120"),)),
        Answer(404),
        Answer(401),
        Answer(302, headers=(("location", "http://127.0.0.1:9/elsewhere"),)),
    ],
    ids=lambda one: str(one.status),
)
def test_what_is_refused_is_sent_again(engine, answer):
    with serving(answer) as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.fall()
        deployment.send()
        assert deployment.count("failed") == 1
        deployment.ground.clock.advance(200)
        deployment.send()
        deployment.send()
        bodies = read(taker)
        assert bodies[0] == bodies[1]
        assert deployment.list_open() == []


def test_the_others_wait_for_their_own_alert_only(engine):
    with serving(Answer(404)) as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        other = deployment.ground.add_stream(app="elsewhere")
        deployment.ground.count(other, WELL)
        deployment.ground.judge(until=9 * DAY)
        deployment.ground.count(other, FALL.between(9 * DAY, PAGED))
        deployment.fall()
        deployment.send()
        refused, *rest = read(taker)
        assert {one["stream"]["app"] for one in rest} == ({"shop", "elsewhere"} - {refused["stream"]["app"]})


def test_a_huge_answer_is_not_read_and_a_slow_one_is_cut(engine):
    with serving(Answer(body=b"x" * 5_000_000)) as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.fall()
        deployment.send()
        assert deployment.count("sent") >= 1


def test_a_slow_sink_is_cut_and_sent_to_again(engine, monkeypatch):
    release = threading.Event()
    with serving() as taker:
        take = taker.take
        monkeypatch.setattr(taker, "take", lambda posted: (release.wait(20), take(posted))[1])
        deployment = Deployment(engine, webhook={"url": taker.url, "timeout_seconds": 0.3})
        deployment.fall()
        deployment.send()
        assert (deployment.count("sent"), deployment.count("failed")) == (0, 1)
        release.set()
        deployment.ground.clock.advance(60)
        deployment.send()
        assert deployment.count("sent") >= 1
        assert deployment.list_open() == []


HOSTILE = '</a><script>alert(1)</script>\u202e"\n' + "x" * 90


def test_a_hostile_name_is_a_value_and_never_markup(engine):
    with serving(*[Answer(body=b"[]"), Answer(body=b'{"id": 1}')] * 5) as taker, serving() as hook:
        deployment = Deployment(
            engine, app=HOSTILE, webhook={"url": hook.url}, grafana={"url": taker.url, "token": "t0ken"}
        )
        deployment.fall()
        deployment.send()
        deployment.send(GRAFANA)
        assert read(hook)[0]["stream"]["app"] == HOSTILE
        made = json.loads(taker.posted[1].body)
        assert "<script>" not in made["text"]
        assert made["text"].count("<a ") == made["text"].count("</a>") == 1
        assert max(map(len, made["tags"])) <= 90


class Grafana:
    """As its documentation has it: annotations by number, found by tag; each lost answer is one of `lose`."""

    def __init__(self):
        self.annotations = {}
        self.lose = set()
        self.requests = 0

    def take(self, posted):
        self.requests += 1
        answer = self._answer(posted)
        return Answer(500) if self.requests in self.lose else answer

    def _answer(self, posted):
        url = urlsplit(posted.path)
        assert posted.headers["authorization"] == "Bearer t0ken"
        if posted.method == "GET":
            (tag,) = parse_qs(url.query)["tags"]
            found = [{"id": n, **one} for n, one in self.annotations.items() if tag in one["tags"]]
            return Answer(body=json.dumps(found).encode())
        body = json.loads(posted.body)
        if posted.method == "PATCH":
            number = int(url.path.rpartition("/")[2])
            self.annotations[number] |= body
            return Answer(body=b'{"message": "Annotation patched"}')
        assert url.path == "/grafana/api/annotations"
        number = len(self.annotations) + 1
        self.annotations[number] = body
        return Answer(body=json.dumps({"message": "Annotation added", "id": number}).encode())


@pytest.mark.parametrize("lose", [set(), {2}, {1, 3, 4}])
def test_an_alert_is_one_annotation_from_its_beginning_to_its_end(engine, monkeypatch, lose):
    grafana = Grafana()
    grafana.lose = lose
    with serving() as taker:
        monkeypatch.setattr(taker, "take", grafana.take)
        deployment = Deployment(engine, grafana={"url": f"{taker.url}/grafana/", "token": "t0ken"})
        deployment.fall(until=12 * DAY)
        for _ in range(12):
            deployment.send(GRAFANA)
            deployment.ground.clock.advance(700)
    (alert,) = deployment.ground.list_alerts()
    (made,) = grafana.annotations.values()
    assert made["time"] == alert["since"].timestamp() * 1000
    assert made["timeEnd"] == alert["closed_at"].timestamp() * 1000
    assert {"ragsonde", "regression", "app:shop", "environment:prod"} < set(made["tags"])
    assert "it has recovered" in made["text"]
    assert deployment.list_open() == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b'{"message": "x"}',
        b'[{"id": "x"}]',
        b'[{"id": Infinity}]',
        b'[{"id": 1e400}]',
        b'[{"id": true}]',
        b"[" * 70_000,
    ],
)
def test_what_is_no_grafana_is_sent_to_again_and_makes_nothing(engine, body):
    with serving(Answer(body=body)) as taker:
        deployment = Deployment(engine, grafana={"url": taker.url, "token": "t0ken"})
        deployment.fall()
        deployment.send(GRAFANA)
        assert [one.method for one in taker.posted] == ["GET"]
        assert deployment.count("failed", GRAFANA) == 1


def test_an_open_page_is_reminded_of_once_a_day_until_somebody_knows(engine):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.fall()
        for _ in range(3):
            deployment.send()
        before = tell(taker)
        assert before[-1] == "page"
        deployment.ground.clock.advance(12 * 3600)
        deployment.send()
        assert tell(taker) == before
        deployment.ground.clock.advance(12 * 3600)
        deployment.send()
        deployment.send()
        assert tell(taker) == [*before, "reminder"]
        deployment.mark(acked_at=deployment.ground.clock.now())
        deployment.ground.clock.advance(50 * 3600)
        deployment.send()
        assert tell(taker) == [*before, "reminder"]


@pytest.mark.parametrize(
    ("column", "event"), [("accepted_at", "accepted"), ("false_at", "false"), (None, "closed")]
)
def test_what_a_person_closed_is_told_once(engine, column, event):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.fall()
        for _ in range(3):
            deployment.send()
        now = deployment.ground.clock.now()
        deployment.mark(closed_at=now, **({column: now} if column else {}))
        for _ in range(3):
            deployment.send()
        assert tell(taker)[-1] == event
        assert tell(taker).count(event) == 1


def warn(deployment):
    """Judges until there is a warning."""
    ground = deployment.ground
    ground.count(deployment.stream, FALL.between(9 * DAY, 12 * DAY))
    end = 9 * DAY
    while not ground.list_alerts():
        end += 1
        ground.judge(until=end)
    (alert,) = ground.list_alerts()
    assert alert["kind"] == "warn"


def test_that_an_acknowledged_warning_became_a_page_is_told_once_and_its_end(engine):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        ground = deployment.ground
        warn(deployment)
        deployment.send()
        deployment.mark(acked_at=ground.clock.now())
        ground.judge(until=PAGED)
        for _ in range(3):
            deployment.send()
            ground.clock.advance(50 * 3600)
        assert tell(taker) == ["warn", "page"]
        ground.judge(until=12 * DAY)
        deployment.send()
        (alert,) = ground.list_alerts()
        assert alert["closed_at"] is not None
        assert tell(taker) == ["warn", "page", "resolve"]


def test_what_still_waits_when_somebody_acknowledges_calls_nobody(engine):
    grafana = Grafana()
    with serving() as taker, serving() as hook:
        taker.take = grafana.take
        sinks = {
            "webhook": {"url": hook.url},
            "grafana": {"url": f"{taker.url}/grafana", "token": "t0ken"},
        }
        deployment = Deployment(engine, **sinks)
        warn(deployment)
        deployment.mark(acked_at=deployment.ground.clock.now())
        deployment.send()
        deployment.send(GRAFANA)
        assert tell(hook) == []
        assert len(grafana.annotations) == 1
        assert deployment.list_open() == []
        assert (deployment.count("failed"), deployment.count("dropped")) == (0, 0)


@pytest.mark.parametrize("status", [400, 413, 415, 422])
def test_a_notice_that_is_refused_as_such_holds_up_nothing(engine, caplog, status):
    with serving(Answer(status)) as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        warn(deployment)
        deployment.ground.judge(until=PAGED)
        deployment.send()
        assert tell(taker) == ["warn", "page"]
        assert [deployment.count(name) for name in ("sent", "failed", "dropped")] == [1, 1, 1]
        assert deployment.list_open() == []
        (told,) = [one for one in caplog.records if one.message == "alert_notice_dropped"]
        assert (told.error, told.attempts) == (f"answered {status}", 1)


@pytest.mark.parametrize(
    ("column", "event"), [("accepted_at", "accepted"), ("false_at", "false"), (None, "closed")]
)
def test_the_end_of_an_alert_is_told_however_long_somebody_knew_of_it(engine, column, event):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        clock = deployment.ground.clock
        deployment.fall()
        deployment.send()
        deployment.mark(acked_at=clock.now())
        clock.advance(31 * 86_400)
        deployment.send()
        deployment.mark(closed_at=clock.now(), **({column: clock.now()} if column else {}))
        deployment.send()
        assert tell(taker)[-1] == event
        clock.advance(29 * 86_400)
        deployment.send()
        assert deployment.ground.query("SELECT count(*) > 0 FROM alert_notice") == [(True,)]
        clock.advance(2 * 86_400)
        deployment.send()
        assert deployment.ground.query("SELECT count(*) FROM alert_notice") == [(0,)]
        assert tell(taker).count(event) == 1


def test_a_page_that_nobody_knows_of_is_reminded_of_after_a_month_too(engine):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.fall()
        deployment.send()
        deployment.mark(acked_at=deployment.ground.clock.now())
        deployment.ground.clock.advance(31 * 86_400)
        deployment.send()
        deployment.mark(acked_at=None)
        deployment.send()
        assert tell(taker)[-1] == "reminder"


def test_only_what_is_known_by_name_leaves(engine):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.fall()
        moment = block_at(deployment.ground.first).isoformat()
        secret = {"traces": [{"trace_id": "t/1", "raw": 0.1, "occurred_at": moment, "query": "secret"}]}
        with engine.begin() as connection:
            connection.execute(
                text("UPDATE alert SET reason = 'secret', explanation = explanation || CAST(:more AS jsonb)"),
                {"more": json.dumps({**secret, "answer_text": "secret"})},
            )
        deployment.send()
        body = taker.posted[0].body.decode()
        assert "secret" not in body
        (trace,) = json.loads(body)["explanation"]["traces"]
        assert trace == {
            "trace_id": "t/1",
            "raw": 0.1,
            "occurred_at": moment,
            "link": "https://rag.example/sonde/trace?app=shop&id=t%2F1",
        }


def test_what_is_old_is_tidied(engine):
    with serving() as taker:
        deployment = Deployment(engine, webhook={"url": taker.url})
        deployment.fall()
        deployment.mark(closed_at=deployment.ground.clock.now())
        for _ in range(4):
            deployment.send()
        deployment.ground.clock.advance(31 * 86_400)
        deployment.send()
        assert deployment.ground.query("SELECT count(*) FROM alert_notice") == [(0,)]
