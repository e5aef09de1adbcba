"""`ragsonde rescore` and `ragsonde whatif` over a real Postgres."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_context, make_trace, plan_free
from ragsonde.api.rescoring import rescore
from ragsonde.cli.default_days import count_chosen_days
from ragsonde.cli.main import run
from ragsonde.pipeline.judging import judge_and_score
from ragsonde.scoring.table import build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde.storage import assessments
from ragsonde.storage.assessments import EvaluationFilter, count_evaluations, read_evaluations
from ragsonde.storage.history import read_history
from ragsonde.storage.rescored import RescoredEvaluation, Written, store_rescored
from ragsonde_schemas.errors import DatabaseLostError
from ragsonde_schemas.evaluation import PlannedEvaluation
from ragsonde_schemas.trace import Reference
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

OLD = {"context_relevance": None, "context_precision": None}
NEW = {
    "context_relevance": {"penalties": {"unused_high": 0.4, "missing_item": 0.3}, "scale": 10},
    "context_precision": {"scale": 5, "threshold": 0.6},
}
VERDICTS = {
    "contexts": {
        "1": {"relevant": True, "supports": True, "level": "high", "used": False},
        "2": {"relevant": False, "supports": False, "level": "low", "used": False},
    },
    "missing": ["the address"],
    "essential": ["1.1"],
    "relevant_sentences": ["1"],
}


class Recorded:
    name, fingerprint, is_free = "people", "ab" * 8, True

    def assess(self, trace, aspects, *, deadline=None):  # noqa: ARG002
        return read_assessment(VERDICTS, trace, aspects=aspects)


def admit(stores, trace, *, judge="people", config=OLD, **answered):
    result = judge_and_score(trace, scorers=build_scorers(config), judge=Recorded())
    if answered:
        told = result.assessment.model_copy(update=answered)
        result = result.model_copy(update={"assessment": told})
    planned = PlannedEvaluation(
        judge=judge, fingerprint=Recorded.fingerprint, state=result.state, sample_rate=1.0, result=result
    )
    stores.traces.admit(trace, (planned,))


TRACES = (
    make_trace("plain"),
    make_trace("referenced", reference=Reference(answer="14 days")),
    make_trace("empty", contexts=()),
    make_trace("blank", contexts=(make_context(0, "A refund takes 14 days."), make_context(1, "  "))),
    make_trace("other", app="forum"),
)


@pytest.fixture
def stores(own_engine):
    stores = PostgresStores(FakeClock(), own_engine)
    for trace in TRACES:
        admit(stores, trace)
    return stores


@pytest.fixture
def config(tmp_path, database_url):
    path = Path(tmp_path) / "new.yaml"
    path.write_text(json.dumps({"scorers": NEW, "database_url": database_url}), encoding="utf-8")
    return str(path)


@pytest.fixture
def call(capsys, config):
    def run_command(command, *options):
        with pytest.raises(SystemExit) as ended:
            run([command, "--config", config, *options, "--output", "json"])
        out, err = capsys.readouterr()
        return ended.value.code, json.loads(out) if out else None, err

    return run_command


def read_rows(engine):
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT * FROM score ORDER BY trace_id, scorer, version")).mappings()
        return [dict(row) for row in rows]


def read_current(engine, scorer, column="version"):
    query = text(f"SELECT trace_id, {column} FROM current_score WHERE scorer = :scorer")  # noqa: S608
    with engine.connect() as connection:
        return dict(connection.execute(query, {"scorer": scorer}).fetchall())


@pytest.mark.usefixtures("stores")
class TestRescore:
    def test_the_rows_are_those_of_a_fresh_evaluation_with_these_options(self, own_engine, call):
        code, _, err = call("rescore")
        assert (code, err) == (0, "")
        for trace in TRACES:
            fresh = judge_and_score(trace, scorers=build_scorers(NEW), judge=Recorded())
            (revision,) = read_history(own_engine, trace.trace_id).revisions
            told = revision.evaluations[0]
            stored = {(one.scorer, one.version): one for one in (*told.outcomes, *told.hidden)}
            for outcome in fresh.outcomes:
                assert stored[outcome.scorer, outcome.version] == outcome

    def test_old_rows_stay_and_count_until_the_new_ones_are_activated(self, own_engine, call):
        before = read_current(own_engine, "context_relevance", "raw")
        call("rescore")
        assert len(read_rows(own_engine)) == 15  # another version of context_relevance for each trace
        assert read_current(own_engine, "context_relevance", "raw") == before
        _, told, _ = call("rescore", "--activate")
        version = told["activated"]["context_relevance"]
        assert set(read_current(own_engine, "context_relevance").values()) == {version}
        # mean weight (1 + .3) / 2, an unused high context at .4, a missing item at .3
        assert read_current(own_engine, "context_relevance", "raw")["plain"] == 0.0
        precision = read_current(own_engine, "context_precision")
        assert (precision["plain"], precision["referenced"]) == ("1:answer", "1:reference")
        call("rescore", "--deactivate")
        assert read_current(own_engine, "context_relevance", "raw") == before

    def test_the_history_of_a_trace_parts_what_counts_from_other_versions(self, own_engine, call):
        for options in ((), ("--activate",)):
            call("rescore", *options)
            (revision,) = read_history(own_engine, "plain").revisions
            (told,) = revision.evaluations
            shown = {one.scorer: one.version for one in told.outcomes}
            assert shown == {name: read_current(own_engine, name)["plain"] for name in OLD}
            (hidden,) = told.hidden
            assert hidden.scorer == "context_relevance"
            assert hidden.version != shown["context_relevance"]

    def test_people_read_the_days_and_of_a_deactivation_only_what_is_shown(self, call, config, capsys):
        def tell(*options):
            with pytest.raises(SystemExit):
                run(["rescore", "--config", config, *options])
            return capsys.readouterr().out

        day = NOON.strftime("%Y-%m-%d")
        assert f"5 evaluations rescored, traces of {day} to {day}, no judge asked" in tell()
        told = tell("--deactivate", "--scorer", "context_relevance")
        assert told == (
            "context_relevance: shown from now on: of each trace the version by which it was judged, "
            "not what was rescored\n"
        )
        assert call("rescore")[1]["days"] == [day, day]

    def test_a_second_run_changes_nothing(self, own_engine, call):
        _, first, _ = call("rescore")
        rows = read_rows(own_engine)
        _, second, _ = call("rescore", "--batch", "1")
        assert (first["new_rows"], first["changed_rows"]) == (5, 4)
        assert (second["new_rows"], second["changed_rows"]) == (0, 0)
        assert read_rows(own_engine) == rows

    def test_a_dry_run_tells_the_same_and_stores_nothing(self, own_engine, call):
        rows = read_rows(own_engine)
        _, dry, _ = call("rescore", "--dry-run", "--activate")
        assert read_rows(own_engine) == rows
        _, wet, _ = call("rescore")
        for name in ("evaluations", "new_rows", "changed_rows", "judges"):
            assert dry[name] == wet[name]

    def test_a_run_that_was_cut_off_goes_on_to_the_same_rows(self, own_engine, call):
        batches = read_evaluations(own_engine, EvaluationFilter(), days=(NOON.date(),), batch_size=2)
        store(own_engine, next(batches))
        partial = len(read_rows(own_engine))
        call("rescore")
        rows = read_rows(own_engine)
        assert 10 < partial < len(rows)
        with own_engine.begin() as connection:
            connection.execute(
                text("DELETE FROM score WHERE version NOT IN ('1', '1:answer', '1:reference')")
            )
        call("rescore")
        assert read_rows(own_engine) == rows

    def test_means_before_and_after_and_the_paired_change(self, call):
        _, told, _ = call("rescore", "--app", "shop", "--scorer", "context_relevance")
        shift = told["judges"]["people@ababab"]["scorers"]["context_relevance"]
        # two contexts: .65 - .1 - .15 = .4, then 0; with a blank one .5 - .1 - .15 = .25, then 0
        assert (shift["before"]["n"], shift["after"]["n"], shift["change"]["n"]) == (3, 3, 3)
        assert shift["before"]["mean"] == pytest.approx((0.4 + 0.4 + 0.25) / 3)
        assert shift["after"]["mean"] == 0.0
        assert shift["change"]["mean"] == pytest.approx(-0.35)
        # deviation of .4 .4 .25 is .0866; t of 2 degrees 4.3027 (any table), over the root of 3
        assert shift["change"]["reach"] == pytest.approx(4.302653 * 0.0866025 / 3**0.5, abs=1e-5)
        assert told["unscored"] == {"context_relevance skipped(empty_retrieval)": 1}

    @pytest.mark.parametrize(
        ("options", "evaluations"),
        [
            (("--app", "forum"), 1),
            (("--since", NOON.strftime("%Y-%m-%d")), 5),
            (("--judge", "people"), 5),
        ],
    )
    def test_filters(self, call, options, evaluations):
        assert call("rescore", *options)[1]["evaluations"] == evaluations

    @pytest.mark.parametrize("command", [("rescore",), ("whatif", "--top-k", "1")])
    @pytest.mark.parametrize(
        ("options", "code", "said"),
        [
            (
                ("--judge", "peolpe"),
                2,
                "--judge peolpe: no such judge; did you mean people? (known: lexical, people)",
            ),
            (("--app", "shopp"), 2, "--app shopp: nothing of this app is evaluated; did you mean shop?"),
            (("--until", "2020-01-01"), 1, "nothing matches: no finished evaluation"),
        ],
    )
    def test_a_wrong_name_and_an_empty_selection_are_told_apart(self, call, command, options, code, said):
        found, _, err = call(*command, *options)
        assert found == code
        assert said in err

    def test_a_judge_that_is_configured_and_has_judged_nothing_is_no_wrong_name(self, call, config):
        path = Path(config)
        judges = [{"name": "spare", "kind": "lexical"}]
        path.write_text(json.dumps(json.loads(path.read_text()) | {"judges": judges}), encoding="utf-8")
        code, _, err = call("rescore", "--judge", "spare")
        assert (code, "nothing matches" in err, "judge spare" in err) == (1, True, True)

    def test_nothing_that_matches_activates_nothing(self, own_engine, call):
        code, _, _ = call("rescore", "--activate", "--until", "2020-01-01")
        assert (code, set(read_current(own_engine, "context_relevance").values())) == (1, {"1"})

    def test_judges_and_streams_are_never_put_into_one_mean(self, stores, call):
        admit(stores, make_trace("second"), judge="others")
        admit(stores, make_trace("third"), answered_fingerprint="cd" * 8, judge_epoch=2)
        _, told, _ = call("rescore", "--scorer", "context_precision")
        counts = {label: one["evaluations"] for label, one in told["judges"].items()}
        assert (told["evaluations"], counts) == (
            7,
            {"others@ababab": 1, "people@ababab": 5, "people@cdcdcd.2": 1},
        )
        _, told, _ = call("whatif", "--top-k", "1")
        counts = {label: one["evaluations"] for label, one in told["judges"].items()}
        # of the five first ones, one has no contexts
        assert counts == {"others@ababab": 1, "people@ababab": 4, "people@cdcdcd.2": 1}

    def test_dropped_texts_are_skipped_and_overwrite_nothing(self, own_engine, stores, call):
        for trace in TRACES[:2]:
            stores.drop_texts(trace)
        old = {(row["trace_id"], row["scorer"], row["version"]): row for row in read_rows(own_engine)}
        call("rescore")
        rows = {(row["trace_id"], row["scorer"], row["version"]): row for row in read_rows(own_engine)}
        added = [rows[key] for key in rows.keys() - old.keys() if key[0] in ("plain", "referenced")]
        assert [(row["scorer"], row["status"], row["cause"]) for row in added] == [
            ("context_relevance", "skipped", "content_expired")
        ] * 2
        for key, row in old.items():
            if key[0] in ("plain", "referenced"):
                assert rows[key] == row

    def test_superseded_revisions_are_left_alone(self, own_engine, stores, call):
        admit(stores, make_trace("plain", answer="Within a month."))
        call("rescore")
        with own_engine.connect() as connection:
            revisions = connection.execute(
                text("SELECT revision FROM score WHERE trace_id = 'plain' AND version LIKE '1+%'")
            ).scalars()
            assert list(revisions) == [2]

    def test_only_the_scorers_that_a_judge_is_given(self, call, config):
        path = Path(config)
        judges = [{"name": "people", "kind": "lexical", "scorers": ["context_precision"]}]
        path.write_text(json.dumps(json.loads(path.read_text()) | {"judges": judges}), encoding="utf-8")
        _, told, _ = call("rescore")
        assert (
            told["new_rows"],
            told["judges"]["people@ababab"]["scorers"]["context_relevance"]["after"]["n"],
        ) == (0, 0)

    def test_a_scorer_that_is_not_configured(self, call):
        code, _, err = call("rescore", "--scorer", "context_relevanze")
        assert code == 2
        assert "did you mean context_relevance" in err

    def test_whatif_computes_from_stored_verdicts(self, own_engine, call):
        rows = read_rows(own_engine)
        code, told, _ = call("whatif", "--top-k", "1", "--app", "shop", "--scorer", "context_precision")
        people = told["judges"]["people@ababab"]
        assert (code, people["evaluations"], people["cut_evaluations"], people["emptied"]) == (0, 3, 3, 0)
        assert people["characters_saved"] == 2 * len("Shipping is free.") + 2
        assert told["judges"]["people@ababab"]["scorers"]["context_precision"]["after"]["mean"] == 1.0
        assert read_rows(own_engine) == rows


def store(engine, evaluations):
    scorers = build_scorers(NEW)
    return store_rescored(
        engine,
        [
            RescoredEvaluation(one.key, one.assessment, one.judged_at, rescore(one, scorers=scorers))
            for one in evaluations
        ],
    )


@pytest.mark.parametrize("page_rows", [1, 2, 3, 5, 6, 20_000])
def test_batches_hold_each_evaluation_once_whatever_their_size(
    own_engine,
    stores,  # noqa: ARG001
    monkeypatch,
    page_rows,
):
    monkeypatch.setattr(assessments, "PAGE_ROWS", page_rows)
    days = count_evaluations(own_engine, EvaluationFilter())
    assert days == {NOON.date(): 5}
    for size in (1, 2, 5, 9):
        batches = list(read_evaluations(own_engine, EvaluationFilter(), days=tuple(days), batch_size=size))
        assert max(map(len, batches)) <= size
        ids = [one.key.trace.trace_id for batch in batches for one in batch]
        assert ids == sorted(trace.trace_id for trace in TRACES)


def test_a_batch_is_stored_whole_or_not_at_all(own_engine, stores):  # noqa: ARG001
    (batch,) = read_evaluations(own_engine, EvaluationFilter(), days=(NOON.date(),), batch_size=9)
    rows = read_rows(own_engine)
    broken = batch[-1].model_copy(update={"key": batch[-1].key.model_copy(update={"judge": "l\0"})})
    with pytest.raises(Exception, match="NUL") as failed:
        store(own_engine, [*batch[:-1], broken])
    assert not isinstance(failed.value, DatabaseLostError)
    assert read_rows(own_engine) == rows
    assert store(own_engine, batch) == Written(new=5, changed=4)


def test_of_an_evaluation_that_was_erased_meanwhile_nothing_is_stored(own_engine, stores):  # noqa: ARG001
    (batch,) = read_evaluations(own_engine, EvaluationFilter(), days=(NOON.date(),), batch_size=9)
    gone = batch[-1].model_copy(update={"key": batch[-1].key.model_copy(update={"judge": "erased"})})
    store(own_engine, [gone])
    with own_engine.connect() as connection:
        assert "erased" not in connection.execute(text("SELECT judge FROM score")).scalars().all()


def test_without_a_first_day_the_newest_seven_that_hold_some_are_read_and_it_is_told(own_engine, capsys):
    stores = PostgresStores(FakeClock(), own_engine)
    for back in range(9):
        for number in range(back + 1):
            occurred_at = NOON - timedelta(days=2 * back)
            trace = make_trace(f"t-{back}-{number}", occurred_at=occurred_at)
            stores.traces.admit(trace, (plan_free(),))
    newest = {NOON.date() - timedelta(days=2 * back): back + 1 for back in range(7)}
    assert count_chosen_days(own_engine, EvaluationFilter()) == newest
    assert "what is older than 2026-06-03 is left out" in capsys.readouterr().err
    assert len(count_chosen_days(own_engine, EvaluationFilter(), takes_all=True)) == 9
    since = EvaluationFilter(since=NOON.date() - timedelta(days=2))
    assert count_chosen_days(own_engine, since) == dict(list(newest.items())[:2])
    assert capsys.readouterr().err == ""
