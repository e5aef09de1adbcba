"""`ragsonde compare` over a real Postgres: exit codes, words, an interrupt."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from sqlalchemy import text

from fakes.evaluations import FREE_PRINT
from ragsonde.cli.main import run
from services.release_ground import ReleaseGround
from services.waiting import wait_for

pytestmark = pytest.mark.integration
NAMES = ("--app", "shop", "--new", "release=2.4", "--against", "2.3")


@pytest.fixture
def ground(own_engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return ReleaseGround(own_engine)


@pytest.fixture
def compare(database_url, capsys):
    def call(*options, names=NAMES):
        with pytest.raises(SystemExit) as ended:
            run(["compare", *names, "--database-url", database_url, *options])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return call


def store_both(ground, *, old=0.8, new=0.8, traces=300):
    ground.store("2.3", old, traces=traces)
    ground.store("2.4", new, traces=traces)


def test_a_worse_release_ends_with_one_and_says_by_how_much(ground, compare):
    store_both(ground, new=0.5)
    code, out, err = compare("--output", "json")
    told = json.loads(out)
    assert (code, err, told["verdict"]) == (1, "", "worse")
    # the scorer that failed everywhere is none to wait for
    (pair,) = told["comparisons"]
    assert (pair["scorer"], pair["judge"], pair["fingerprint"]) == (
        "context_precision",
        "lexical",
        FREE_PRINT,
    )
    assert (pair["way"], pair["drop"], pair["traces_needed"]) == ("side_by_side", 0.3, 0)
    assert pair["traces_old"] == pair["traces_new"] == 300
    assert (told["app"], told["environment"], told["smallest_drop"]) == ("shop", "production", 0.02)


def test_one_that_is_not_worse_ends_with_zero(ground, compare):
    store_both(ground)
    code, out, _ = compare()
    assert code == 0
    assert "side by side, as both had traces in the same" in " ".join(out.split())
    assert out.splitlines()[-1] == "shop, production: release 2.4 against 2.3: not worse"


def test_what_is_not_known_yet_ends_with_three_and_says_what_is_missing(ground, compare):
    store_both(ground, traces=60)
    code, out, _ = compare()
    assert code == 3
    assert "more" in out.splitlines()[1]
    assert out.splitlines()[-1].endswith("not known yet")
    told = json.loads(compare("-o", "json")[1])
    assert told["comparisons"][0]["traces_needed"] > 0


def test_one_after_the_other_is_held_to_the_week_before(ground, compare):
    for raw in (0.6, 1.0):
        ground.store("2.3", raw, traces=1500, ago=timedelta(days=9), over=timedelta(days=8))
    ground.store("2.4", 0.5, traces=400, ago=timedelta(hours=10), over=timedelta(hours=9))
    code, out, _ = compare("-o", "json")
    told = json.loads(out)
    assert (code, told["comparisons"][0]["way"]) == (1, "in_turn")
    assert told["comparisons"][0]["drop"] == pytest.approx(0.3, abs=0.03)
    assert told["comparisons"][0]["traces_old"] == 3000


def test_a_judge_that_changed_is_not_known_whatever_the_scores(ground, compare):
    store_both(ground, new=0.1)
    ground.change(
        "UPDATE score SET answered_fingerprint = 'another' FROM trace t "
        "WHERE t.trace_id = score.trace_id AND t.release = '2.4'"
    )
    code, out, _ = compare("-o", "json")
    (pair,) = json.loads(out)["comparisons"]
    assert (code, pair["verdict"], pair["way"], pair["drop"]) == (3, "undecided", None, None)
    assert pair["why"].startswith("the judge or the scorer changed between the releases")


def test_several_scorers_share_the_chance_and_the_strictest_decides(ground, compare):
    store_both(ground)
    ground.change(
        "UPDATE score SET status = 'scored', cause = NULL, value = 1, raw = CASE WHEN t.release = '2.4' "
        "THEN .2 ELSE .9 END FROM trace t "
        "WHERE t.trace_id = score.trace_id AND scorer = 'statement_relevancy'"
    )
    code, out, _ = compare("-o", "json")
    told = json.loads(out)
    assert (code, told["alpha"]) == (1, 0.005)
    assert [pair["verdict"] for pair in told["comparisons"]] == ["not_worse", "worse"]
    code, out, _ = compare("-o", "json", "--scorer", "context_precision")
    assert (code, json.loads(out)["alpha"]) == (0, 0.01)


@pytest.mark.parametrize(
    ("names", "options", "told"),
    [
        (("--app", "shpo", *NAMES[2:]), (), "--app shpo: no such app; did you mean shop? (known: shop)"),
        (NAMES, ("--environment", "prod"), "--environment prod: no trace of this app in it"),
        ((*NAMES[:5], "2.33"), (), "--against 2.33: no trace of this release; did you mean 2.3?"),
        (("--app", "shop", "--new", "release=2.44", "--against", "2.3"), (),
         "--new 2.44: no trace of this release; did you mean 2.4? (known: 2.3, 2.4)"),
        (("--app", "shop", "--new", "release=2.44", "--against", "2.3"), ("--wait", "0h"), "--new 2.44"),
        (NAMES, ("--scorer", "precision"), "--scorer precision: neither release has an outcome of it"),
        (NAMES, ("--scorer", "essential_context"), "--scorer essential_context: expected one where higher"),
        (NAMES, ("--judge", "gpt"), "--judge gpt: neither release has an outcome of it (known: lexical)"),
        (NAMES, ("--wait", "soon"), "--wait: found 'soon'"),
        (NAMES, ("--smallest-drop", "0"), "Invalid value"),
        (("--app", "shop", "--new", "2.4", "--against", "2.3"), (), "--new: found '2.4'"),
    ],
)  # fmt: skip
def test_a_name_that_nobody_knows_ends_with_two_and_those_that_are_known(
    ground, compare, names, options, told
):
    store_both(ground, traces=2)
    code, out, err = compare(*options, names=names)
    assert (code, out) == (2, "")
    assert told in " ".join(err.split())


def test_an_empty_database_is_said_so(ground, compare):  # noqa: ARG001
    code, _, err = compare()
    assert (code, err) == (2, "ragsonde: --app shop: no trace in the last 14 days\n")


@pytest.fixture
def waiting(database_url, ground, tmp_path):
    """Starts the command as a process of its own, which has looked at least once when it is given."""
    started = []

    def start(*options, names=NAMES):
        command = [sys.executable, "-m", "ragsonde", "compare", *names, "--wait", "1h", *options]
        process = subprocess.Popen(
            [*command, "--database-url", database_url],
            cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        wait_for(lambda: has_looked(ground.engine) or process.poll() is not None, seconds=60)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def has_looked(engine):
    """The command's connection stands idle after it has read scores."""
    with engine.connect() as connection:
        return connection.execute(
            text(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' "
                "AND application_name = 'ragsonde-compare' AND xact_start IS NULL "
                "AND query IN ('ROLLBACK', 'COMMIT')"
            )
        ).scalar_one()


@pytest.mark.parametrize("form", ["table", "json"])
def test_an_interrupt_ends_the_waiting_with_130_and_no_traceback(ground, waiting, form):
    store_both(ground, traces=10)
    process = waiting("-o", form)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_release_that_has_no_trace_yet_is_waited_for(ground, waiting):
    ground.store("2.3", 0.8, traces=10)
    assert waiting("-o", "json").poll() is None
