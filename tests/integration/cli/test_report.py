"""`ragsonde report` over a real Postgres: its numbers are those that were put in, counted by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from statistics import fmean, stdev

import pytest
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import make_assessment, make_calls, make_result, make_trace, plan_paid
from fakes.traces import make_envelope
from fakes.watched_traces import admit, leave, leave_empty
from ragsonde.cli.main import run
from ragsonde.reporting.figures import NO_TRACE
from ragsonde.scoring.student import find_t
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from services.steering_ground import SteeringGround
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)
RAWS = [0.1, 0.2, 0.35, 0.6, 0.75] * 5
BEFORE = [0.9, 0.8, 0.85, 0.95] * 6
S = EvaluationState
CLOSE = """
UPDATE alert SET closed_at = opened_at + interval '90 min', false_at = opened_at, reason = 'a test'
"""


@pytest.fixture
def call(database_url, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run_command(*words):
        with pytest.raises(SystemExit) as ended:
            run(["report", *words, "--database-url", database_url])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return ended.value.code, out, err

    return run_command


def ask(call, *words):
    code, out, err = call(*words, "--output", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


def judge(stores, trace_id, *, at, calls):
    """A trace that the paid judge scored."""
    trace = make_trace(trace_id, answer=trace_id, occurred_at=at, environment="production", release="2.5")
    (key,) = stores.traces.admit(trace, (plan_paid(),)).pending
    stores.traces.finish(stores.traces.claim(key), make_result(assessment=make_assessment(calls=calls)))


@pytest.fixture
def stores(own_engine):
    stores = PostgresStores(FakeClock(NOW), own_engine)
    for number, raw in enumerate(RAWS):
        admit(stores, f"t-{number}", raw=raw, release="2.4", occurred_at=NOW - (number % 9) * DAY - DAY / 9)
    for number, raw in enumerate(BEFORE):
        admit(
            stores,
            f"b-{number}",
            raw=raw,
            release="2.3",
            occurred_at=NOW - 10 * DAY - (number % 9) * DAY - DAY / 9,
        )
    for number in range(3):
        leave_empty(stores, f"e-{number}", occurred_at=NOW - DAY)
    states = [S.SAMPLED_OUT, S.SAMPLED_OUT, S.SHED, S.WAITING, S.FAILED]
    for number, state in enumerate(states):
        leave(stores, f"p-{number}", state, answer=str(number), occurred_at=NOW - DAY)
    first, second, *_ = make_calls()
    judge(stores, "j-1", at=NOW - DAY, calls=(first.model_copy(update={"cost_usd": 0.02}),))
    judge(stores, "j-2", at=NOW - DAY, calls=(second.model_copy(update={"cost_usd": None}),))
    admit(stores, "other", raw=0.5, app="other", occurred_at=NOW - DAY)
    return stores


@pytest.mark.usefixtures("stores")
def test_its_numbers_are_those_of_the_rows(call):
    told = ask(call, "--since", "10d")
    shop, other = told["places"]
    assert (shop["app"], shop["environment"], shop["traces"], shop["traces_before"]) == (
        "shop",
        "production",
        len(RAWS) + 3 + 5 + 2,
        len(BEFORE),
    )
    assert (other["app"], other["traces"], other["traces_before"]) == ("other", 1, 0)
    judges = {one["judge"]: one for one in shop["judges"]}
    assert (judges["lexical"]["scored"], judges["lexical"]["waiting"]) == (len(RAWS), 0)
    assert judges["lexical"]["not_scored"] == [{"words": "empty retrieval", "n": 3}]
    assert (judges["gpt"]["scored"], judges["gpt"]["waiting"]) == (2, 1)
    assert (judges["gpt"]["sampled_out"], judges["gpt"]["shed"]) == (2, 1)
    assert {one["words"]: one["n"] for one in judges["gpt"]["not_scored"]} == {
        "outside the judge's sample": 2,
        "left out for the judge's budget": 1,
        "not assessed": 1,
    }


@pytest.mark.usefixtures("stores")
def test_means_have_intervals_and_move_against_the_span_before(call):
    shop = ask(call, "--since", "10d", "--app", "shop")["places"][0]
    (line,) = [
        one
        for one in shop["scorers"]
        if (one["judge"], one["scorer"]) == ("lexical", "context_precision:answer")
    ]
    reach = find_t(len(RAWS) - 1) * stdev(RAWS) / len(RAWS) ** 0.5
    assert line["n"] == len(RAWS)
    assert line["mean"] == pytest.approx(fmean(RAWS))
    assert (line["lower"], line["upper"]) == pytest.approx((fmean(RAWS) - reach, fmean(RAWS) + reach))
    assert line["bins"] == [5, 5, 0, 5, 0, 5, 0, 5, 0, 0]
    move = line["move"]
    assert (move["before_n"], move["before_mean"]) == (len(BEFORE), pytest.approx(fmean(BEFORE)))
    assert move["difference"] == pytest.approx(fmean(RAWS) - fmean(BEFORE))
    assert move["lower"] < move["difference"] < move["upper"] < 0


@pytest.mark.usefixtures("stores")
def test_releases_worst_traces_costs(call):
    told = ask(call, "--since", "10d", "--app", "shop")
    releases = {one["name"]: one for one in told["places"][0]["releases"]}
    assert {name: one["traces"] for name, one in releases.items()} == {"2.5": 2, "2.4": len(RAWS)}
    (score,) = [one for one in releases["2.4"]["scores"] if one["scorer"] == "context_precision:answer"]
    assert (score["n"], score["mean"]) == (len(RAWS), pytest.approx(fmean(RAWS)))
    worst = told["places"][0]["worst"]
    assert [one["raw"] for one in worst] == [0.1] * 5
    assert {one["trace_id"] for one in worst} == {f"t-{number}" for number in range(0, 25, 5)}
    (cost,) = [one for one in told["costs"] if one["judge"] == "gpt"]
    assert (cost["traces"], cost["judged"], cost["sampled_out"], cost["shed"]) == (7, 2, 2, 1)
    assert (cost["calls"], cost["cost_usd"], cost["unpriced"]) == (2, 0.02, 1)
    assert (cost["tokens_in"], cost["tokens_out"]) == (1500 + 1700, 80 + 90)


@pytest.mark.usefixtures("stores")
def test_the_time_before_alone_has_only_what_occurred_then(call):
    ten = (NOW - 10 * DAY).isoformat()
    told = ask(call, "--since", (NOW - 20 * DAY).isoformat(), "--until", ten)
    (shop,) = told["places"]
    assert (shop["traces"], shop["traces_before"]) == (len(BEFORE), 0)
    assert [one["name"] for one in shop["releases"]] == ["2.3"]
    assert all(one["move"] is None for one in shop["scorers"])


def test_what_came_after_its_time_is_not_in_it(stores, call):
    ten = (NOW - 10 * DAY).isoformat()
    for name in (b"replayed", b"waiting"):
        stores.parking.park(make_envelope(name), reason=ParkReason.EMPTY_BODY, message="m", where="body")
    with stores.engine.begin() as connection:
        connection.execute(text("UPDATE parked_message SET replayed_at = now() WHERE body = 'replayed'"))
    assert [one["n"] for one in ask(call, "--since", "20d")["parked"]] == [2]
    assert ask(call, "--since", (NOW - 20 * DAY).isoformat(), "--until", ten)["parked"] == []


@pytest.mark.usefixtures("stores")
def test_traces_are_linked_where_a_page_is_configured(call, tmp_path):
    config = tmp_path / "r.yaml"
    config.write_text("links: {page: https://page.example}\n")
    told = ask(call, "--since", "10d", "--app", "shop", "--config", str(config))
    links = [one["link"] for one in told["places"][0]["worst"]]
    assert len(links) == 5
    assert all(link.startswith("https://page.example/traces/t-") for link in links)
    config.write_text('links: {trace: "https://tool.example/{trace_id}"}\n')
    told = ask(call, "--since", "10d", "--app", "shop", "--config", str(config))
    assert told["places"][0]["worst"][0]["link"].startswith("https://tool.example/t-")


@pytest.mark.usefixtures("stores")
def test_a_file_is_written_in_the_form_of_its_ending(call, tmp_path):
    for name, begin in (("r.html", "<!doctype html>"), ("r.md", "# Quality report"), ("r.json", "{")):
        code, out, err = call("--since", "10d", "--to", str(tmp_path / name))
        assert (code, out, err) == (0, "", f"ragsonde: written to {tmp_path / name}\n")
        assert (tmp_path / name).read_text("utf-8").startswith(begin)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json", "r.md"]


def test_falls_are_told_with_what_became_of_them(own_engine, call):
    ground = SteeringGround(own_engine, clock=FakeClock(NOW - 10 * DAY))
    number = ground.fall(ground.begin())
    (fall,) = ask(call, "--since", "20d")["falls"]
    assert (fall["number"], fall["app"], fall["is_page"], fall["closed_at"]) == (number, "shop", True, None)
    with own_engine.begin() as connection:
        row = connection.execute(text("SELECT (explanation->>'drop')::float8 AS drop FROM alert")).one()
        connection.execute(text(CLOSE))
    assert fall["drop"] == row.drop
    told = ask(call, "--since", "20d")
    (fall,) = told["falls"]
    assert (fall["open_seconds"], fall["is_false"], fall["reason"]) == (5400.0, True, "a test")
    assert (told["pages"]["pages"], told["pages"]["called_false"], told["pages"]["budget"]) == (1, 1, 1.0)
    assert ask(call, "--since", "1h")["falls"] == []
    assert ask(call, "--since", "20d", "--until", (NOW - 11 * DAY).isoformat())["falls"] == []
    _, out, _ = call("--since", "20d")
    assert "a page, called false" in out
    assert "1 h 30 min" in out
    assert ask(call, "--since", "20d", "--app", "nobody")["falls"] == []


def test_changes_of_models_and_versions_are_told(stores, call):
    with stores.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO judge_epoch (judge, fingerprint, answered_model, epoch, first_since) VALUES "
                "('gpt', 'f00baa', 'm-2', 2, :at), ('gpt', 'f00baa', 'm-1', 1, :old)"
            ),
            {"at": NOW - DAY, "old": NOW - 30 * DAY},
        )
    words = [one["words"] for one in ask(call, "--since", "10d")["changes"]]
    assert "judge gpt@f00baa.2 was answered by the model m-2 from then on" in words
    assert not any("m-1" in one for one in words)


@pytest.mark.usefixtures("own_engine")
@pytest.mark.parametrize("form", ["md", "html"])
def test_an_empty_database_is_said_to_be_empty(call, form):
    code, out, err = call("--output", form)
    assert (code, err) == (0, "")
    assert NO_TRACE in out


@pytest.mark.usefixtures("stores")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--app", "shopp"), "--app shopp: no such app"),
        (("--since", "soon"), "--since: found 'soon'"),
        (("--since", "500d"), "found 500 days, expected at most 400"),
        (("--since", "1d", "--until", "2d"), "expected a time after"),
        (("--since", "2999-01-01"), "expected a time that has come"),
        (("--to", "nowhere/r.md"), "its folder is not there"),
        (("--to", "."), "found a folder"),
        (("--output", "pdf"), "pdf"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(call, words, told):
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
