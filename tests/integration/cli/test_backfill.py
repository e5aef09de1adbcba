"""`ragsonde backfill` over a real Postgres: what it tells before, what it starts, two sides compared."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import FREE, FREE_PRINT, make_result, make_trace, plan_free
from ragsonde.cli.backfill_start import read_assignments
from ragsonde.cli.main import run
from ragsonde.settings import read_settings
from ragsonde.storage.backfills import create_backfill, list_backfills
from ragsonde.storage.rescored import read_active_versions
from ragsonde_schemas.backfill import BackfillRequest, BackfillState
from ragsonde_schemas.evaluation import EvaluationState, PlannedEvaluation
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

NOW = datetime.now(UTC)
TRACES = 12
NEW_PRINT = "ab" * 8


def plan_new(raw, *, fingerprint=NEW_PRINT, version="1:answer"):
    result = make_result(raw=raw)
    outcomes = tuple(one.model_copy(update={"version": version}) for one in result.outcomes)
    return PlannedEvaluation(
        judge=FREE,
        fingerprint=fingerprint,
        state=EvaluationState.SCORED,
        sample_rate=1.0,
        result=result.model_copy(update={"outcomes": outcomes}),
    )


def request(**fields):
    return BackfillRequest(
        **{
            "judge": FREE,
            "fingerprint": NEW_PRINT,
            "since": NOW.date() - timedelta(days=2),
            "until": NOW.date(),
            "rate_per_second": 5.0,
            **fields,
        }
    )


@pytest.fixture
def stores(own_engine):
    return PostgresStores(FakeClock(NOW), own_engine)


@pytest.fixture
def command(own_engine, capsys):
    """Runs the command: code and output."""
    url = own_engine.url.render_as_string(hide_password=False)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            run(["backfill", *arguments, "--database-url", url])
        said = capsys.readouterr()
        return ended.value.code, said.out + said.err

    return call


def admit(stores, *more):
    """Traces, scored by the free judge under an old fingerprint .00, .01, ..., and what more is planned."""
    for number in range(TRACES):
        trace = make_trace(f"t-{number:02}", answer=str(number), occurred_at=NOW - timedelta(seconds=number))
        stores.traces.admit(trace, (plan_free(number / 100), *(plan(number) for plan in more)))


def test_a_dry_run_tells_what_would_be_done_and_starts_nothing(command, stores):
    admit(stores)
    code, said = command("start", "--judge", "lexical", "--rate", "0.1", "--dry-run")
    assert code == 0
    assert f"{TRACES} traces" in said
    assert f"{TRACES} without an evaluation of judge lexical would get one" in said
    assert "at 0.1 a second: 2 min at least" in said
    assert list_backfills(stores.engine) == ()


@pytest.mark.parametrize(
    ("options", "told", "fields"),
    [
        (("--failed",), f"{TRACES} for which judge lexical failed would be judged once more", {}),
        (
            ("--failed", "--cause", "not_assessed"),
            f"{TRACES} for which judge lexical failed with not_assessed would be judged once more",
            {"cause": "not_assessed"},
        ),
        (
            ("--scorer", "essential_context"),
            f"{TRACES} judged by lexical without essential_context would get its score",
            {"scorer": "essential_context", "only_failed": False},
        ),
    ],
)
def test_what_is_run_once_more_is_told_and_kept(command, stores, options, told, fields):
    state = EvaluationState.SCORED if "--scorer" in options else EvaluationState.FAILED
    own_print = read_assignments(read_settings(None, options={}))["lexical"].judge.fingerprint
    ended = PlannedEvaluation(
        judge=FREE, fingerprint=own_print, state=state, sample_rate=1.0, result=make_result(state)
    )
    for number in range(TRACES):
        stores.traces.admit(make_trace(f"t-{number:02}", answer=str(number), occurred_at=NOW), (ended,))
    code, said = command("start", *options)
    assert (code, told in " ".join(said.split())) == (0, True), said
    (started,) = list_backfills(stores.engine)
    expected = {"only_failed": True, **fields}
    kept = started.request.model_dump(mode="json")
    assert {name: kept[name] for name in expected} == expected
    code, said = command("show", str(started.id))
    assert (code, "once more" in said or "the score of essential_context" in said) == (0, True), said


def test_started_paused_resumed_cancelled(command, stores):
    admit(stores)
    code, said = command("start", "--since", NOW.strftime("%Y-%m-%d"), "--traces", "5", "--output", "json")
    told = json.loads(said)
    assert (code, told["evaluations"], told["at_most"]) == (0, 5, None)
    number = str(told["backfill"])
    (started,) = list_backfills(stores.engine)
    assert (started.foreseen, started.request.most_traces) == (5, 5)
    assert started.request.sample == pytest.approx(5 / TRACES)
    for action, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        code, said = command(action, number)
        assert (code, f"backfill {number} is {state}" in said) == (0, True), said
    code, said = command("resume", number)
    assert (code, "is cancelled, so there is nothing to resume" in said) == (2, True)
    code, said = command("list")
    assert (code, "cancelled" in said) == (0, True)
    assert list_backfills(stores.engine)[0].state is BackfillState.CANCELLED


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("start", "--judge", "lexica"), "no judge of the settings"),
        (("start", "--until", "2026-01-01", "--since", "2026-02-01"), "before --since 2026-02-01"),
        (("start", "7"), "neither number nor file"),
        (("start", "--cause", "judge_unavailable"), "expected --failed with it"),
        (("start", "--failed", "--cause", "judge_unavailabl"), "did you mean judge_unavailable"),
        (("start", "--failed", "--scorer", "context_precision"), "expected one of them"),
        (("start", "--scorer", "context_precisio"), "no scorer of judge lexical"),
        (("show",), "the number of a backfill is missing"),
        (("show", "99"), "backfill 99: there is none"),
        (("show", "seven"), "expected the number of a backfill"),
        (("files",), "expected at least one file"),
        (("activate",), "expected --scorer"),
    ],
)
def test_a_mistake_is_told_in_one_line(command, arguments, told):
    code, said = command(*arguments)
    assert code == 2
    assert told in said
    assert "Traceback" not in said


def test_a_range_in_which_nothing_is_missing_is_told(command):
    code, said = command("start")
    assert (code, "nothing to do" in said) == (1, True)


def test_two_judges_over_the_same_traces(command, stores):
    # .05 less for each but the last, which gets .5 more
    admit(stores, lambda number: plan_new(0.61 if number == TRACES - 1 else max(0.0, number / 100 - 0.05)))
    number = create_backfill(stores.engine, request(), foreseen=TRACES, created_by=None, now=NOW)
    code, said = command("compare", str(number), "--output", "json")
    assert code == 0
    told = json.loads(said)
    assert told["before"]["fingerprint"] == FREE_PRINT
    found = told["scorers"]["context_precision"]
    before, after = [n / 100 for n in range(12)], [0, 0, 0, 0, 0, 0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.61]
    assert found["before"]["n"] == found["change"]["n"] == TRACES
    assert found["before"]["mean"] == pytest.approx(sum(before) / 12)
    assert found["after"]["mean"] == pytest.approx(sum(after) / 12)
    assert found["change"]["mean"] == pytest.approx((sum(after) - sum(before)) / 12)
    assert found["change"]["reach"] > 0
    assert found["share_moved"] == pytest.approx(9 / 12), "0, .01 and .02 moved by .02 at most"
    assert found["most_changed"][0]["trace_id"] == "t-11"
    assert told["agreement"]["relevant"]["accuracy"] == 1
    code, said = command("compare", str(number))
    assert (code, "follows from the settings" in said, "t-11" in said) == (0, True, True)


def test_a_version_is_shown_alone_after_both_were_compared(command, stores):
    from ragsonde.cli.backfill_start import read_assignments  # noqa: PLC0415 - loads the judges
    from ragsonde.settings import read_settings  # noqa: PLC0415

    own = read_assignments(read_settings(None, options={}))[FREE].judge.fingerprint
    admit(stores, lambda number: plan_new(number / 100, fingerprint=own))
    with stores.engine.begin() as connection:
        insert = (
            "INSERT INTO score SELECT trace_id, app, record_key, revision, day, judge, fingerprint, scorer,"
            " '1+abcdef:answer', created_at + interval '1 s', status, raw + 0.1, value, band, passed, cause,"
            " reason, details, answered_fingerprint, judge_epoch FROM score"
            " WHERE fingerprint = :own AND status = 'scored'"
        )
        connection.execute(text(insert), {"own": own})
    code, said = command("activate", "--scorer", "context_precision", "--dry-run")
    assert (code, "version 1+abcdef alone would be shown" in said) == (0, True), said
    assert read_active_versions(stores.engine) == {}
    code, said = command("activate", "--scorer", "context_precision", "--new", "1+abcdef", "--output", "json")
    told = json.loads(said)
    assert told["scorers"]["context_precision"]["change"]["mean"] == pytest.approx(0.1)
    assert told["activated"] == read_active_versions(stores.engine) == {"context_precision": "1+abcdef"}
