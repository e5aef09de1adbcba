"""`ragsonde check-set` over a real Postgres."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from fakes.clock import FakeClock
from fakes.evaluations import PAID, PAID_PRINT, make_outcomes, make_trace, plan_free
from ragsonde.cli.main import run
from ragsonde.storage.check_runs import PostgresCheckStore, open_checks, take_due_checks
from ragsonde.storage.check_traces import list_checks
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.check import CheckResult
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

NOW = datetime.now(UTC)


@pytest.fixture
def command(own_engine, capsys):
    """Runs the command on a database with 12 scored traces of the app shop: code and output."""
    stores = PostgresStores(FakeClock(NOW), own_engine)
    for number in range(12):
        trace = make_trace(f"t-{number}", answer=str(number), occurred_at=NOW - timedelta(seconds=number))
        stores.traces.admit(trace, (plan_free(number / 12),))
    url = own_engine.url.render_as_string(hide_password=False)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            run(["check-set", *arguments, "--database-url", url])
        said = capsys.readouterr()
        return ended.value.code, said.out + said.err

    return call


def judge(engine, *raws):
    """Judges the whole set once a day, on days that end today."""
    clock = FakeClock(NOW - timedelta(days=len(raws) - 1))
    store = PostgresCheckStore(engine, clock=clock, lease_seconds=60)
    for raw in raws:
        now = clock.now()
        ids = [one.id for one in list_checks(engine)]
        open_checks(engine, judge=PAID, fingerprint=PAID_PRINT, check_ids=ids, day=now.date(), now=now)
        due = take_due_checks(
            engine, fingerprints=[(PAID, PAID_PRINT)], now=now, limit=99, queued_for_seconds=60
        )
        for key in due:
            result = CheckResult(assessment=Assessment(), cause=None, outcomes=make_outcomes(raw))
            store.finish(store.claim(key), result)
        clock.jump(86_400)


def test_a_set_is_chosen_topped_up_and_never_beyond_what_was_asked(command, own_engine):
    assert command("choose", "--app", "shop", "--n", "4", "--dry-run") == (
        0,
        "4 traces would be added to the check set of shop, which held 0\n",
    )
    assert list_checks(own_engine) == ()
    command("choose", "--app", "shop", "--n", "4")
    first = {one.trace_id for one in list_checks(own_engine)}
    assert len(first) == 4
    assert command("choose", "--app", "shop", "--n", "4")[1].startswith("0 traces added")
    code, said = command("choose", "--app", "shop", "--n", "30")
    assert (code, len(list_checks(own_engine))) == (0, 12)
    assert first < {one.trace_id for one in list_checks(own_engine)}
    assert "30 were asked for" in said


def test_an_app_that_is_not_evaluated_is_told(command):
    code, said = command("choose", "--app", "shpo")
    assert (code, "--app shpo: no such app; did you mean shop? (known: shop)" in said) == (2, True)


def test_an_empty_set_says_how_to_fill_it(command):
    assert "check-set choose --app APP" in command("list")[1]


def test_the_list_shows_how_far_a_judge_has_moved(command, own_engine):
    command("choose", "--app", "shop", "--n", "3")
    judge(own_engine, 0.8, 0.8, 0.5)
    _, said = command("list")
    (line,) = [line for line in said.splitlines() if line.startswith("gpt@fedcba")]
    cells = line.split()
    assert cells[:7] == ["gpt@fedcba", "context_precision:answer", "3", "0.800", "0.500", "-0.300", "0.000"]


def test_after_one_day_there_is_nothing_to_compare(command, own_engine):
    command("choose", "--app", "shop", "--n", "3")
    judge(own_engine, 0.8)
    assert "no judge has seen it on two days yet" in command("list")[1]


def test_scripts_get_numbers(command, own_engine):
    command("choose", "--app", "shop", "--n", "3")
    judge(own_engine, 0.8, 0.5)
    told = json.loads(command("list", "--output", "json")[1])
    assert len(told["traces"]) == 3
    (drift,) = told["drift"]
    assert (drift["n"], drift["difference"]) == (3, pytest.approx(-0.3))
    assert drift["last_judged_at"].startswith(NOW.date().isoformat())


def test_traces_are_dropped_by_number_or_app(command, own_engine):
    command("choose", "--app", "shop", "--n", "3")
    first = list_checks(own_engine)[0].id
    assert command("drop", "--id", str(first), "--dry-run")[1] == "1 trace would be dropped\n"
    assert command("drop", "--id", str(first))[1] == "1 trace dropped\n"
    assert command("drop", "--app", "shop")[1] == "2 traces dropped\n"
    assert list_checks(own_engine) == ()


def test_nothing_is_dropped_where_nothing_is_named(command):
    code, said = command("drop")
    assert (code, "expected --app, --id or both" in said) == (2, True)


@pytest.mark.parametrize("action", [("drop",), ("drop", "--dry-run"), ("list",)])
def test_an_app_that_is_not_in_the_set_is_refused(command, own_engine, action):
    command("choose", "--app", "shop", "--n", "3")
    code, said = command(*action, "--app", "shpo")
    assert (code, len(list_checks(own_engine))) == (2, 3)
    assert "--app shpo: none of its traces is in the check set; did you mean shop? (known: shop)" in said


def test_a_number_that_is_not_in_the_set_drops_nothing_and_it_is_told(command):
    code, said = command("drop", "--id", "999999")
    assert (code, said) == (1, "ragsonde: nothing matches: the check set holds no such trace\n")
