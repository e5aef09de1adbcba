"""`ragsonde alerts` over a real Postgres: tables, words, exit codes, what is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from ragsonde_schemas.score_stream import block_at
from services.steering_ground import DAY, level

pytestmark = pytest.mark.integration
END = 9 * DAY + 96
_COPIED = "app, environment, kind, opened_at, paged_at, since, told_at, baseline_id, explanation"
_COPY = text(f"INSERT INTO alert (stream_id, {_COPIED}) SELECT :stream, {_COPIED} FROM alert")  # noqa: S608


@pytest.fixture
def alert(ground, stream):
    return ground.fall(stream)


def ask(call, *words):
    code, out, err = call("alerts", *words, "--output", "json")
    assert err == ""
    return code, json.loads(out)


def test_the_list_has_open_ones_first_and_pages_against_the_budget(ground, alert, call):
    assert call("alerts", "false", str(alert))[0] == 0
    with ground.engine.begin() as connection:
        connection.execute(_COPY, {"stream": ground.add_stream(version="2")})
    code, told = ask(call, "list")
    assert (code, [(one["state"], one["is_open"]) for one in told["alerts"]]) == (
        0,
        [("page", True), ("false", False)],
    )
    assert told["last_365_days"] == {"pages": 2, "called_false": 1, "false_pages_budget": 1.0}
    assert [one["alert"] for one in ask(call, "list", "--open")[1]["alerts"]] == [told["alerts"][0]["alert"]]
    _, out, _ = call("alerts", "list")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "shop, prod: context_precision by lexical@f" in lines[1]
    assert lines[-1] == (
        "2 pages in the last 365 days, 1 called false; expected of chance alone: 1 a year at most, "
        "all streams together"
    )


@pytest.mark.parametrize(("kind", "state"), [("resolve", "recovered"), ("page", "put away")])
def test_only_what_ended_by_evidence_has_recovered(ground, alert, call, kind, state):
    with ground.engine.begin() as connection:
        connection.execute(
            text("UPDATE alert SET kind = :kind, closed_at = now(), reason = 'another took its place'"),
            {"kind": kind},
        )
    assert ask(call, "show", str(alert))[1]["state"] == state
    out = " ".join(call("alerts", "show", str(alert))[1].split())
    assert ("not recovered: another took its place" in out) is (kind == "page")


@pytest.mark.usefixtures("ground")
def test_without_alerts_the_list_says_so(call):
    code, out, _ = call("alerts", "list")
    assert (code, out.splitlines()[0]) == (0, "no alert")


def test_one_is_told_in_plain_words_whatever_else_is_known_of_it(ground, alert, call):
    more = {
        "traces": [{"trace_id": "t-1", "raw": 0.1, "occurred_at": "2026-09-15T12:00:00+00:00"}],
        "changes": [{"kind": "release", "name": "2.4", "at": "2026-09-15T12:00:00+00:00"}],
        "check_set": {"drift": -0.1, "stderr": 0.01, "before": 0.8, "after": 0.7, "n": 40, "has_moved": True},
        "answers": {"of": "another version"},
        "new_in_version_9": [1, {"a": None}],
        "overdispersion": 2.5,
        "mix_shift": 0.03,
    }
    with ground.engine.begin() as connection:
        connection.execute(
            text("UPDATE alert SET explanation = explanation || CAST(:more AS jsonb)"),
            {"more": json.dumps(more)},
        )
    code, out, _ = call("alerts", "show", str(alert))
    told = " ".join(out.split())
    assert code == 0
    for words in (
        "scores fell by",
        "against a baseline of 0.",
        "when told: chance alone would show this about once in",
        "because traces are harder than before",
        "where it fell most:",
        "release 2.4",
        "the judge itself moved: it scores the same 40 traces",
        "ragsonde why t-1",
        f"ragsonde alerts verify {alert} --since TIME",
    ):
        assert words in told
    code, told = ask(call, "show", str(alert))
    assert told["explanation"]["new_in_version_9"] == [1, {"a": None}]
    assert (told["alert"], told["state"], told["closed_at"]) == (alert, "page", None)


def test_what_was_looked_at_and_found_as_before_is_told_too(ground, alert, call):
    with ground.engine.begin() as connection:
        connection.execute(
            text("UPDATE alert SET explanation = explanation || CAST(:more AS jsonb)"),
            {"more": json.dumps({"changes": [], "extraction": {"moved": []}})},
        )
    told = " ".join(call("alerts", "show", str(alert))[1].split())
    assert "no release, and no version, judge or model of this scorer, was first seen within a day of" in told
    assert "fields are found by the same rules as before" in told


def test_known_accepted_and_shown_so(ground, alert, call):
    assert "is known: nobody is told again" in call("alerts", "ack", str(alert))[1]
    assert "is known already" in call("alerts", "ack", str(alert))[1]
    assert ask(call, "list")[1]["alerts"][0]["state"] == "page, known"
    code, out, _ = call("alerts", "accept", str(alert), "--reason", "shorter answers")
    assert code == 0
    assert "is closed as intended. Baseline" in out
    assert "it only warns until there are 500 traces" in " ".join(out.split())
    code, told = ask(call, "accept", str(alert), "--reason", "again")
    assert (code, told["is_new"]) == (0, False)
    assert "accepted as meant at" in call("alerts", "show", str(alert))[1]
    assert ground.list_alerts()[0]["reason"] == "shorter answers"
    code, _, err = call("alerts", "ack", str(alert))
    assert code == 0  # it was known before it was closed
    assert err == ""


@pytest.mark.usefixtures("alert")
def test_a_name_that_nobody_knows_is_refused_and_pages_are_of_the_app_that_is_meant(ground, call):
    ground.add_stream(app="other")
    code, out, err = call("alerts", "list", "--app", "shopp")
    assert (code, out) == (2, "")
    assert "--app shopp: no such app" in err
    assert "(known: other, shop)" in err
    code, out, err = call("alerts", "list", "--app", "shop", "--environment", "test")
    assert (code, out, "(known: prod)" in err) == (2, "", True)
    code, out, err = call("alerts", "list", "--environment", "test")
    assert (code, out, "(known: prod)" in err) == (2, "", True)
    assert call("alerts", "list", "--app", "other")[1].startswith("no alert\n0 pages of other in the last")
    assert "1 page of shop, prod in" in call("alerts", "list", "--app", "shop", "--environment", "prod")[1]
    assert ask(call, "list", "--app", "other")[1]["last_365_days"]["pages"] == 0


def test_the_list_says_of_when_its_numbers_are(call, alert):
    told = call("alerts", "list")[1].partition("\n0 pages")[0]
    assert f"\n{alert}" in told.replace(" ", "")
    assert told.count("when") == 2
    assert "now" not in told


def test_verified_before_anything_is_closed_it_says_when_to_ask_again(ground, alert, call):
    since = block_at(ground.first + END) + timedelta(minutes=2)
    code, out, _ = call("alerts", "verify", str(alert), "--since", since.isoformat())
    again = block_at(ground.first + END + 2) + timedelta(minutes=5)
    told = " ".join(out.split())
    assert code == 3
    assert f"no five minutes that began since {since:%Y-%m-%d %H:%M} are closed yet" in told
    assert told.endswith(f"ask again after {again:%Y-%m-%d %H:%M} UTC")


def test_verify_refuses_a_beginning_before_the_fall(ground, alert, call):
    fell = ground.list_alerts()[0]["since"]
    before = fell - timedelta(days=3)
    code, out, err = call("alerts", "verify", str(alert), "--since", before.isoformat())
    told = " ".join(err.split())
    assert (code, out) == (2, "")
    assert f"the fall of alert {alert} began at {fell:%Y-%m-%d %H:%M} UTC" in told
    assert told.endswith("expected a later time: that of the repair")
    code, told = ask(call, "verify", str(alert), "--since", fell.isoformat())
    assert (code, told["verdict"]) == (1, "not_yet")


def test_verify_says_not_yet_then_too_few_then_recovered(ground, stream, alert, call):
    code, told = ask(call, "verify", str(alert), "--since", (block_at(ground.first + END - 60)).isoformat())
    assert (code, told["verdict"]) == (1, "not_yet")
    assert told["mean"] == pytest.approx(0.6, abs=0.06)
    repaired = block_at(ground.first + END).isoformat()
    code, told = ask(call, "verify", str(alert), "--since", repaired)
    assert (code, told["verdict"], told["n"], told["mean"]) == (3, "too_few", 0, None)
    ground.go_on(stream, level(first=END, end=END + 4, mean=0.8, seed=3), step=4)
    code, told = ask(call, "verify", str(alert), "--since", repaired)
    assert (code, told["verdict"], told["n"]) == (3, "too_few", 16)
    ground.go_on(stream, level(first=END + 4, end=END + 100, mean=0.82, seed=3), step=96)
    code, told = ask(call, "verify", str(alert), "--since", repaired)
    assert (code, told["verdict"], told["traces_needed"]) == (0, "recovered", 0)
    assert told["baseline_mean"] == pytest.approx(0.8, abs=0.02)
    code, out, _ = call("alerts", "verify", str(alert), "--since", repaired)
    assert (code, out.splitlines()[-1]) == (
        0,
        "recovered: as before, but for less than the smallest drop that matters",
    )


def test_without_since_every_asking_begins_at_the_same_moment(ground, stream, alert, call):
    told = block_at(ground.first + END - 600)
    recovery = {"recovery": {"since": block_at(ground.first + END - 7).isoformat()}}
    with ground.engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE alert SET opened_at = :told, paged_at = :told, "
                "explanation = explanation || CAST(:more AS jsonb)"
            ),
            {"told": told, "more": json.dumps(recovery)},
        )
    assert ask(call, "verify", str(alert))[1]["since"] == told.isoformat()
    ground.go_on(stream, level(first=END, end=END + 40, mean=0.8, seed=3), step=40)
    assert ask(call, "verify", str(alert))[1]["since"] == told.isoformat()
    known = block_at(ground.first + END + 3)
    with ground.engine.begin() as connection:
        connection.execute(text("UPDATE alert SET acked_at = :known"), {"known": known})
    found = [ask(call, "verify", str(alert))[1] for _ in range(2)]
    assert [one["since"] for one in found] == [known.isoformat()] * 2
    assert found[0]["n"] == 37 * 4


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ack",), "ack: the number of an alert is missing"),
        (("list", "3"), "list takes no number"),
        (("accept", "3"), "accept: --reason is missing"),
        (("accept", "3", "--reason", "  "), "accept: --reason is missing"),
        (("ack", "3", "--reason", "x"), "ack: takes no --reason"),
        (("show", "3", "--since", "1h"), "show: takes no --since"),
        (("show", "999"), "alert 999: there is none"),
        (("ack", "999"), "alert 999: there is none"),
        (("accept", "999", "--reason", "x"), "alert 999: there is none"),
        (("false", "999"), "alert 999: there is none"),
        (("verify", "999"), "alert 999: there is none"),
        (("list", "--since", "yesterday"), "--since"),
    ],
)
@pytest.mark.usefixtures("ground")
def test_what_cannot_be_done_is_said_in_a_line(call, words, expected):
    code, out, err = call("alerts", *words)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1


@pytest.mark.usefixtures("ground")
def test_a_closed_alert_cannot_become_known(alert, call):
    assert call("alerts", "false", str(alert), "--reason", "a test")[0] == 0
    code, _, err = call("alerts", "ack", str(alert))
    assert (code, "expected an open one" in err) == (2, True)
    assert "called false at" in call("alerts", "show", str(alert))[1]


def test_an_operators_clock_that_is_ahead_closes_nothing_in_the_future(ground, alert, call, monkeypatch):
    class Ahead(datetime):
        @classmethod
        def now(cls, tz=None):  # noqa: ANN206 - as of the class
            return datetime.now(tz) + timedelta(days=30)

    monkeypatch.setattr("ragsonde.cli.alert_decisions.datetime", Ahead)
    assert call("alerts", "false", str(alert))[0] == 0
    assert ground.list_alerts()[0]["closed_at"] <= datetime.now(UTC)
