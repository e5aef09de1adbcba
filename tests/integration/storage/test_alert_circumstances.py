"""An alert names what was other near its beginning, of its own place, and is silent where nothing was."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from sqlalchemy import text

from fakes.clock import NOON
from fakes.evaluations import make_context
from ragsonde.storage import alert_circumstances
from ragsonde.storage.alert_circumstances import find_circumstances
from ragsonde.storage.brief_reading import BriefReading
from ragsonde_schemas.score_stream import ScoreStream
from services.block_ground import BlockGround, minutes

pytestmark = pytest.mark.integration
SIDE = 24
STREAM = ScoreStream(
    scorer="context_precision",
    version="1:answer",
    judge="gpt",
    fingerprint="f1",
    judge_epoch=1,
    app="shop",
    environment="",
)
HEADS = text(
    """
UPDATE assessment SET head = 'query_answer', verdicts = jsonb_build_object('notes', CAST(:notes AS jsonb))
WHERE app = :app AND trace_id LIKE :prefix
"""
)


@pytest.fixture
def ground(engine):
    return BlockGround(engine)


def admit(ground, prefix, *, begin, contexts, characters=10, app="shop", **fields):
    for number in range(SIDE):
        ground.admit(
            f"{prefix}-{number}",
            app=app,
            occurred_at=begin + minutes(number),
            contexts=tuple(make_context(rank, "x" * characters) for rank in range(contexts)),
            **fields,
        )


def find(engine, stream=STREAM, *, until=NOON + timedelta(hours=2), seconds=30.0):
    with engine.begin() as connection:
        reading = BriefReading(connection=connection, seconds_left=seconds)
        return find_circumstances(reading, stream, since=NOON, until=until, smallest_drop=0.02)


def test_where_nothing_is_known_nothing_is_told(engine):
    assert find(engine) == {}


def test_more_and_shorter_contexts_of_the_place_are_told(engine, ground):
    admit(ground, "before", begin=NOON - timedelta(hours=3), contexts=2, characters=100)
    admit(ground, "after", begin=NOON, contexts=4, characters=10)
    admit(ground, "older", begin=NOON - timedelta(hours=26), contexts=9)
    admit(ground, "later", begin=NOON + timedelta(hours=2), contexts=9)
    admit(ground, "other", begin=NOON, contexts=9, app="elsewhere")
    found = find(engine)
    assert set(found) == {"contexts"}
    told = found["contexts"]
    assert (told["n_before"], told["n_after"]) == (SIDE, SIDE)
    assert told["count"]["before"]["mean"] == 2
    assert told["count"]["after"] == {"mean": 4, "p10": 4, "p50": 4, "p90": 4}
    assert (told["characters"]["before"]["p50"], told["characters"]["after"]["p50"]) == (200, 40)


def test_of_a_trace_only_its_newest_revision_counts(engine, ground):
    admit(ground, "before", begin=NOON - timedelta(hours=3), contexts=9, raw=0.7)
    admit(ground, "before", begin=NOON - timedelta(hours=3), contexts=2)
    admit(ground, "after", begin=NOON, contexts=4)
    told = find(engine)["contexts"]
    assert (told["n_before"], told["n_after"]) == (SIDE, SIDE)
    assert told["count"]["before"] == {"mean": 2, "p10": 2, "p50": 2, "p90": 2}
    assert ground.query("SELECT count(*) FROM trace WHERE revision > 1") == [(SIDE,)]


def test_without_texts_their_number_is_known_from_scores(engine, ground):
    admit(ground, "before", begin=NOON - timedelta(hours=3), contexts=2, characters=100)
    admit(ground, "after", begin=NOON, contexts=4, characters=10)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM trace_text"))
        connection.execute(
            text(
                "UPDATE score SET details = jsonb_build_object('n_contexts', "
                "CASE WHEN trace_id LIKE 'before%' THEN 2 ELSE 4 END)"
            )
        )
    found = find(engine)["contexts"]
    assert "characters" not in found
    assert found["count"]["after"]["mean"] == 4


def test_at_most_so_many_traces_of_each_side_are_looked_at(engine, ground, monkeypatch):
    admit(ground, "before", begin=NOON - timedelta(hours=3), contexts=2)
    admit(ground, "after", begin=NOON, contexts=4)
    monkeypatch.setattr(alert_circumstances, "MOST_TRACES", SIDE - 1)
    assert find(engine)["contexts"]["n_before"] == SIDE - 1
    monkeypatch.setattr(alert_circumstances, "MOST_TRACES", 19)
    assert find(engine) == {}


def note_heads(engine, prefix, *, retrieval, answer, app="shop"):
    notes = {"query_only": {"1": retrieval - 0.1, "2": retrieval + 0.1}}
    if answer is not None:
        notes["query_answer"] = {"1": answer, "2": answer}
    with engine.begin() as connection:
        columns = {"notes": json.dumps(notes), "prefix": f"{prefix}-%", "app": app}
        connection.execute(HEADS, columns)


@pytest.mark.parametrize(
    ("after", "is_told"),
    [((0.6, 0.4), True), ((0.6, None), True), ((0.6, 0.7), False), ((0.4, 0.4), False)],
)
def test_answers_that_fit_less_are_told_where_retrieval_is_steady(engine, ground, after, is_told):
    admit(ground, "before", begin=NOON - timedelta(hours=3), contexts=2)
    admit(ground, "after", begin=NOON, contexts=2)
    note_heads(engine, "before", retrieval=0.6, answer=0.7)
    note_heads(engine, "after", retrieval=after[0], answer=after[1])
    found = find(engine)
    assert ("answers" in found) is is_told
    if is_told:
        told = found["answers"]
        assert told["retrieval_before"] == told["retrieval_after"] == pytest.approx(0.6)
        assert told["answer_before"] == pytest.approx(0.7)
        assert told["answer_after"] == (None if after[1] is None else pytest.approx(after[1]))
        assert told["declined_after"] == (1.0 if after[1] is None else 0.0)


def add_check(engine, number, results, *, judge="gpt", scorer="context_precision", version="1:answer"):
    with engine.begin() as connection:
        check = connection.execute(
            text(
                "INSERT INTO check_set (app, trace_id, content_hash, chosen_at, is_active, trace) "
                "VALUES ('shop', :trace, :trace, :now, true, '{}') "
                "RETURNING id"
            ),
            {"trace": f"{judge}-{scorer}-{version}-{number}", "now": NOON},
        ).scalar_one()
        for moment, raw in results:
            scores = {scorer: {"version": version, "status": "scored", "raw": raw}}
            connection.execute(
                text(
                    "INSERT INTO check_result (check_id, judge, fingerprint, day, due_at, judged_at, scores) "
                    "VALUES (:check, :judge, 'f1', :day, :at, :at, CAST(:scores AS jsonb))"
                ),
                {
                    "check": check,
                    "judge": judge,
                    "day": moment.date(),
                    "at": moment,
                    "scores": json.dumps(scores),
                },
            )


def test_the_drift_of_this_judge_and_scorer_is_between_the_results_next_to_the_beginning(engine):
    day = timedelta(days=1)
    for number in range(3):
        results = [(NOON - 9 * day, 0.1), (NOON - 2 * day, 0.2), (NOON - day, 0.8), (NOON + minutes(60), 0.5)]
        add_check(engine, number, results)
    add_check(engine, 3, [(NOON - day, 0.8)])
    add_check(engine, 4, [(NOON - day, 0.8), (NOON + day, 0.1)])
    for other in ({"judge": "other"}, {"scorer": "essential_context"}, {"version": "2:answer"}):
        add_check(engine, 5, [(NOON - day, 0.8), (NOON + minutes(60), 0.1)], **other)
    found = find(engine)
    assert set(found) == {"check_set"}
    told = found["check_set"]
    assert (told["n"], told["has_moved"]) == (3, True)
    assert told["drift"] == pytest.approx(-0.3)
    assert (told["before"], told["after"]) == (pytest.approx(0.8), pytest.approx(0.5))


def test_moved_rules_are_told_the_larger_move_first(engine):
    with engine.begin() as connection:
        for start, rules in (
            (NOON - timedelta(hours=3), {"contexts": {"a": 100}, "query": {"q": 100}}),
            (NOON, {"contexts": {"a": 20, "b": 80}, "query": {"q": 70, "r": 30}}),
            (NOON + timedelta(hours=3), {"contexts": {"c": 1000}}),
        ):
            connection.execute(
                text("INSERT INTO extraction_block VALUES ('shop', '', :start, CAST(:rules AS jsonb))"),
                {"start": start, "rules": json.dumps(rules)},
            )
    told = find(engine)["extraction"]
    moved = [(one["field"], one["rule"], one["before"], one["after"]) for one in told["moved"]]
    assert moved == [
        ("contexts", "b", 0.0, 0.8),
        ("contexts", "a", 1.0, 0.2),
        ("query", "r", 0.0, 0.3),
        ("query", "q", 1.0, 0.7),
    ]
    assert (told["n_before"], told["n_after"]) == (100, 100)


def test_what_takes_too_long_is_left_out_and_the_transaction_goes_on(engine, ground, monkeypatch):
    admit(ground, "before", begin=NOON - timedelta(hours=3), contexts=2)
    admit(ground, "after", begin=NOON, contexts=4)
    for name in ("_CONTEXTS", "_HEADS", "_CHECKS", "_RULES"):
        monkeypatch.setattr(alert_circumstances, name, text("SELECT pg_sleep(5)"))
    assert find(engine, seconds=0.1) == {}
