"""`ragsonde forget` beside a working worker: what is erased stays away, what is others' stays."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from builders.rag_messages import make_messages
from ragsonde.cli.demo_traffic import build_demo_message
from ragsonde.cli.main import run
from ragsonde.demo.corpus import read_demo_traces
from ragsonde.storage.engine import build_engine
from services.everywhere import search_everywhere
from services.judging_worker import JudgingWorker
from services.waiting import wait_for

pytestmark = pytest.mark.integration

FREE = {"name": "lexical", "kind": "lexical"}
X = "ximena@example.org"
PARKED = "SELECT count(*) FROM parked_message"


@pytest.fixture
def worker(database_url):
    with JudgingWorker(database_url, FREE, threads=2) as working:
        yield working


@pytest.fixture
def forget(database_url, capsys):
    """Runs the command: its code, and what it printed."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            run(["forget", *arguments, "--database-url", database_url])
        said = capsys.readouterr()
        return ended.value.code, said.out + said.err

    return call


@pytest.fixture
def engine_of(database_url):
    engine = build_engine(database_url, application_name="ragsonde test", pool_size=1)
    yield engine
    engine.dispose()


def write_messages_of(user, *, prefix, count=6):
    occurred_at = (datetime.now(UTC) - timedelta(minutes=5)).isoformat()
    return [
        {**message, "user_id": user, "session_id": f"{prefix}-session", "occurred_at": occurred_at}
        for message in make_messages(count, prefix=prefix, answers=f"said-to-{prefix}")
    ]


def count_forgotten(worker):
    return worker.read_series("traces_filtered_total").get('{cause="forgotten"}', 0)


def test_of_a_user_nothing_is_found_and_a_replayed_message_does_not_come_back(worker, forget, engine_of):
    of_x, of_y = write_messages_of(X, prefix="x"), write_messages_of("yan", prefix="y")
    worker.take([*of_x, *of_y])
    worker.wait_until_done(12)
    before = worker.query("SELECT judge, count(*) FROM score WHERE trace_id LIKE 'y-%%' GROUP BY judge")

    assert forget("--user", X, "--yes")[0] == 0
    for needle in (X, "x-session", "said-to-x", *(message["trace_id"] for message in of_x)):
        assert search_everywhere(engine_of, needle) == []

    worker.take(of_x)
    wait_for(lambda: count_forgotten(worker) == 6)
    worker.wait_until_done(6)
    assert search_everywhere(engine_of, "said-to-x") == []
    assert (
        worker.query("SELECT judge, count(*) FROM score WHERE trace_id LIKE 'y-%%' GROUP BY judge") == before
    )
    assert worker.query("SELECT judge, count(*) FROM evaluation GROUP BY judge") == [("lexical", 6)]


def test_of_what_workers_are_at_while_it_is_erased_nothing_is_left(worker, forget, engine_of):
    of_x, of_y = write_messages_of(X, prefix="x", count=60), write_messages_of("yan", prefix="y", count=60)
    worker.take([message for pair in zip(of_x, of_y, strict=True) for message in pair])
    wait_for(lambda: worker.count("SELECT count(*) FROM trace WHERE trace_id LIKE 'x-%%'") > 5)
    code, said = forget("--user", X, "--yes", "--output", "json")
    assert code == 0
    erased = json.loads(said)["traces"]
    assert erased > 0
    wait_for(lambda: erased + count_forgotten(worker) == 60)
    worker.wait_until_done(60)
    assert search_everywhere(engine_of, "said-to-x") == search_everywhere(engine_of, X) == []
    assert worker.query("SELECT judge, count(*) FROM evaluation GROUP BY judge") == [("lexical", 60)]


def test_the_demo_is_removed_and_may_be_shown_again(worker, forget):
    demo = read_demo_traces()

    def show():
        worker.take([json.loads(build_demo_message(one, now=datetime.now(UTC))) for one in demo])
        worker.wait_until_done(len(demo))

    show()
    code, said = forget("--app", "demo", "--yes")
    assert code == 0
    assert f"{len(demo)} traces" in said
    for table in ("trace", "trace_text", "evaluation", "assessment", "score"):
        assert worker.count(f"SELECT count(*) FROM {table}") == 0  # noqa: S608 - a name
    show()


def test_a_dry_run_names_the_tables_and_json_says_the_same(worker, forget):
    worker.take(write_messages_of(X, prefix="x"))
    worker.wait_until_done(6)
    code, said = forget("--user", X, "--dry-run", "--output", "json")
    told = json.loads(said)
    assert (code, told["dry_run"], told["traces"], told["rows"]["trace_text"]) == (0, True, 6, 6)
    assert "backups" in told["not_reached"]
    assert worker.count("SELECT count(*) FROM trace") == 6
    code, said = forget("--user", "nobody-of-that-name", "--yes")
    assert (code, "nothing of it was stored" in said, "not reached from here" in said) == (0, True, False)
    code, said = forget("--user", X, "--yes", "--output", "json")
    assert (json.loads(said)["rows"], json.loads(said)["dry_run"]) == (told["rows"], False)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "--user, --session, --trace, --app or --before"),
        (("--user", " "), "--user"),
        (("--trace", "t", "--user", "u"), "--trace"),
        (("--before", "9999-01-01"), "--before"),
        (("--user", "u"), "--yes"),
    ],
)
def test_what_cannot_be_meant_is_refused(forget, monkeypatch, arguments, told):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    code, said = forget(*arguments)
    assert code == 2
    assert told in said


def test_of_what_is_not_stored_a_tombstone_is_left_and_said_to_be(worker, forget):
    code, said = forget("--trace", "typo", "--yes")
    assert (code, "0 traces" in said, "nothing is stored of it; a tombstone is left" in said) == (
        0,
        True,
        True,
    )
    worker.take([{**write_messages_of("yan", prefix="y", count=1)[0], "trace_id": "typo"}])
    wait_for(lambda: count_forgotten(worker) == 1)
