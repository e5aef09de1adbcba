"""`ragsonde backfill` over a real Postgres: what it tells before, what it starts, two sides compared."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import FREE, FREE_PRINT, make_result, make_trace, plan_free
from ragsonde.cli import backfill_comparison, backfill_files
from ragsonde.cli.backfill_start import read_assignments
from ragsonde.cli.main import run
from ragsonde.sampling import draw
from ragsonde.settings import read_settings
from ragsonde.storage import score_pairs
from ragsonde.storage.backfills import change_state, create_backfill, list_backfills
from ragsonde.storage.rescored import activate_versions, read_active_versions
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
    assert (
        sum(draw(app="shop", trace_id=f"t-{number:02}") < started.request.sample for number in range(TRACES))
        == 5
    )
    for action, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        code, said = command(action, number)
        assert (code, f"backfill {number} is {state}" in said) == (0, True), said
    for action in ("resume", "pause"):
        for options in ((), ("--dry-run",)):
            code, said = command(action, number, *options)
            assert (code, f"is cancelled, so there is nothing to {action}" in said) == (2, True), said
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


def test_an_app_that_is_not_there_is_a_mistake_and_one_that_is_not_in_the_range_is_none(command, stores):
    admit(stores)
    code, said = command("start", "--app", "shpo", "--dry-run")
    assert (code, "--app shpo: no such app; did you mean shop?" in said) == (2, True)
    code, said = command("start", "--app", "shop", "--since", "2026-01-01", "--until", "2026-01-01")
    assert (code, "nothing to do" in said) == (1, True)


def test_a_range_in_which_nothing_is_missing_is_told(command):
    code, said = command("start")
    assert (code, "nothing to do" in said) == (1, True)


def test_what_was_refused_is_told_after_the_rest_was_waited_for(command, stores, monkeypatch, tmp_path):
    sent, waited = [], []

    class Broker:
        def __init__(self, _url):
            pass

        def publish_file(self, body, *, backfill):
            sent.append((body, backfill))

        def close(self):
            pass

    monkeypatch.setattr(backfill_files, "Publisher", Broker)
    monkeypatch.setattr(backfill_files, "find_broker_url", lambda _settings: "memory://")
    monkeypatch.setattr(backfill_files, "report_end", lambda _engine, number, **_: waited.append(number))
    file = tmp_path / "traces.jsonl"
    file.write_text(json.dumps({"trace_id": "t", "query": "q", "contexts": ["c"], "answer": "a"}) + "\n{}\n")
    code, said = command("files", str(file), "--wait", "--output", "json")
    (stored,) = list_backfills(stores.engine)
    assert (code, waited, [number for _, number in sent]) == (2, [stored.id], [stored.id]), said
    assert "refused" in said
    assert '"accepted"' not in said, "one object of JSON alone"


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


def test_a_judge_under_a_new_name_is_compared_with_the_one_that_has_scored_the_same_traces(command, stores):
    candidate = plan_new(0.5).model_copy(update={"judge": "candidate"})
    admit(stores, lambda _number: candidate)
    named = request(judge="candidate")
    number = create_backfill(stores.engine, named, foreseen=TRACES, created_by=None, now=NOW)
    code, said = command("compare", str(number), "--output", "json")
    assert (code, json.loads(said)["before"]["judge"]) == (0, FREE), said

    third = plan_new(0.2).model_copy(update={"judge": "third"})
    stores.traces.admit(make_trace("t-99", occurred_at=NOW), (candidate, third))
    code, said = command("compare", str(number))
    told = " ".join(said.split())
    assert (code, "--old is missing" in told) == (2, True), told
    assert f"{FREE}@{FREE_PRINT[:6]} ({TRACES} traces), third@{NEW_PRINT[:6]} (1 traces)" in told
    code, said = command("compare", str(number), "--old", "nobody")
    assert (code, "--old nobody: found no scores by it" in " ".join(said.split())) == (2, True), said


def store_versions(stores):
    """Scores of the free judge as it is configured, and a second later of another version, .1 higher."""
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
    return own


def test_the_version_that_was_first_scored_later_is_the_one_after_though_the_other_is_in_use(command, stores):
    own = store_versions(stores)
    stores.clock.advance(3600)
    stores.traces.admit(make_trace("t-99", occurred_at=NOW), (plan_new(0.3, fingerprint=own),))
    code, said = command("compare", "--scorer", "context_precision", "--output", "json")
    told = json.loads(said)
    assert (code, told["before"]["version"], told["after"]["version"]) == (0, "1", "1+abcdef")
    assert told["scorers"]["context_precision"]["change"]["mean"] == pytest.approx(0.1)
    code, said = command("compare", "--scorer", "context_precision")
    words = " ".join(said.split())
    assert "backfill activate --scorer context_precision --new 1+abcdef" in words
    assert "which judge is shown" not in words


def test_of_several_judges_the_one_with_scores_of_the_scorer_is_compared(
    command, stores, tmp_path, monkeypatch
):
    store_versions(stores)
    settings = tmp_path / "ragsonde.yaml"
    llm = {"kind": "litellm", "model": "openai/gpt-4o-mini"}
    judges = [{"name": FREE, "kind": "lexical"}, {"name": "gpt", **llm}]
    settings.write_text(json.dumps({"judges": judges}))
    monkeypatch.setenv("RAGSONDE_CONFIG", str(settings))
    code, said = command("compare", "--scorer", "context_precision", "--output", "json")
    assert (code, json.loads(said)["after"]["judge"]) == (0, FREE), said
    code, said = command("activate", "--scorer", "context_precision", "--dry-run")
    assert (code, "alone would be shown" in said) == (0, True), said
    code, said = command("compare", "--scorer", "faithfulness")
    assert (code, f"--judge is missing: expected one of gpt, {FREE}" in " ".join(said.split())) == (2, True)


def test_of_a_day_with_too_many_scores_a_draw_is_compared_and_it_says_so(command, stores, monkeypatch):
    admit(stores, lambda number: plan_new(number / 100))
    number = create_backfill(stores.engine, request(), foreseen=TRACES, created_by=None, now=NOW)
    monkeypatch.setattr(backfill_comparison, "MOST_PAIRS_A_DAY", 5)
    code, said = command("compare", str(number), "--output", "json")
    told = json.loads(said)
    assert (code, told["cut_days"] >= 1) == (0, True)
    assert sum(one["change"]["n"] for one in told["scorers"].values()) <= 5 * 2
    code, said = command("compare", str(number))
    assert "5 scores each were compared" in said


def test_reading_of_days_takes_more_time_than_a_statement_of_a_worker_may(stores, monkeypatch):
    asked = "SELECT current_setting('statement_timeout')"
    for name in ("_VERSIONS", "_FINGERPRINTS"):
        monkeypatch.setattr(score_pairs, name, asked)
    monkeypatch.setattr(score_pairs, "_READ", f"{asked}, '', '', 0, 0")
    day, side = NOW.date(), score_pairs.Side(FREE, FREE_PRINT)
    assert score_pairs.list_versions(stores.engine, "s", since=day, until=day) == ("10min",)
    assert score_pairs.list_fingerprints(stores.engine, FREE, since=day, until=day) == ("10min",)
    ((pair,),) = score_pairs.read_pairs(stores.engine, side, side, days=[day], limit=1)
    assert pair.trace_id == "10min"


@pytest.mark.parametrize("action", ["pause", "resume", "cancel"])
def test_what_is_done_is_changed_no_more(command, stores, action):
    number = create_backfill(stores.engine, request(), foreseen=1, created_by=None, now=NOW)
    change_state(stores.engine, number, BackfillState.DONE, now=NOW)
    for options in ((), ("--dry-run",)):
        code, said = command(action, str(number), *options)
        assert (code, f"is done, so there is nothing to {action}" in said) == (2, True), said
    assert list_backfills(stores.engine)[0].state is BackfillState.DONE


def test_a_change_is_said_to_be_there_where_it_is(command, stores):
    number = str(create_backfill(stores.engine, request(), foreseen=1, created_by=None, now=NOW))
    for action, state in (("resume", "running"), ("pause", "paused"), ("cancel", "cancelled")):
        told = command(action, number, "--dry-run")
        assert (told[0], f"backfill {number} would be {state}" in told[1]) == (0, True), told
        for _ in range(2):
            told = command(action, number)
            assert (told[0], f"backfill {number} is {state}" in told[1]) == (0, True), told


def test_of_two_judges_the_scores_that_are_shown_are_compared(stores):
    own = store_versions(stores)
    day, side = NOW.date(), score_pairs.Side(FREE, own)

    def read():
        (pairs,) = score_pairs.read_pairs(stores.engine, side, side, days=[day], limit=TRACES)
        return min(pair.new for pair in pairs)

    assert read() == pytest.approx(0.1)
    activate_versions(stores.engine, {"context_precision": "1"}, now=NOW)
    assert read() == 0


def test_a_version_is_shown_alone_after_both_were_compared(command, stores):
    store_versions(stores)
    code, said = command("activate", "--scorer", "context_precision", "--dry-run")
    assert (code, "version 1+abcdef alone would be shown" in said) == (0, True), said
    assert read_active_versions(stores.engine) == {}
    code, said = command("activate", "--scorer", "context_precision", "--new", "1+abcdef", "--output", "json")
    told = json.loads(said)
    assert told["scorers"]["context_precision"]["change"]["mean"] == pytest.approx(0.1)
    assert told["activated"] == read_active_versions(stores.engine) == {"context_precision": "1+abcdef"}
