"""`ragsonde annotate --app` over a real Postgres."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.evaluations import FREE, make_trace, plan_free
from ragsonde.cli.main import run
from ragsonde.storage import trace_choice
from ragsonde.storage.assessments import EvaluationFilter, count_evaluations
from ragsonde.storage.partitions import ensure_partitions
from ragsonde.storage.trace_choice import read_random, read_worst
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

NOW = datetime.now(UTC).replace(hour=1, minute=0, second=0, microsecond=0)
TODAY = NOW.date()


def choose_worst(engine, limit, **options):
    found = read_worst(
        engine, app="shop", days=[TODAY], scorer="context_precision", judge=FREE, limit=limit, **options
    )
    return [trace.trace_id for trace in found.traces]


@pytest.fixture
def stores(own_engine):
    stores = PostgresStores(FakeClock(NOW), own_engine)
    for number in range(8):
        trace = make_trace(f"t-{number}", answer=f"answer {number}", occurred_at=NOW)
        stores.traces.admit(trace, (plan_free(raw=number / 10),))
    stores.traces.admit(make_trace("theirs", app="forum", occurred_at=NOW), (plan_free(raw=0.0),))
    stores.traces.admit(make_trace("empty", contexts=(), occurred_at=NOW), ())
    stores.traces.admit(make_trace("t-0", answer="a newer one", occurred_at=NOW), (plan_free(raw=0.9),))
    return stores


@pytest.mark.usefixtures("stores")
class TestChoice:
    def test_the_worst_by_the_score_that_counts(self, own_engine):
        assert choose_worst(own_engine, 3) == ["t-1", "t-2", "t-3"]

    def test_dropped_texts_cannot_be_annotated(self, own_engine, stores):
        stores.drop_texts(make_trace("t-1"))
        assert choose_worst(own_engine, 2) == ["t-2", "t-3"]

    def test_random_ones_are_of_the_app_and_have_contexts_each_in_its_newest_revision(self, own_engine):
        found, share = read_random(own_engine, app="shop", days=[TODAY], limit=50)
        assert share == 1.0
        assert sorted(trace.trace_id for trace in found) == [f"t-{number}" for number in range(8)]
        assert {trace.answer for trace in found if trace.trace_id == "t-0"} == {"a newer one"}
        assert found[:3] == read_random(own_engine, app="shop", days=[TODAY], limit=3).traces
        assert read_random(own_engine, app="shop", days=[TODAY + timedelta(days=1)], limit=3).traces == []

    def test_candidates_that_do_not_count_give_way_to_the_next(self, own_engine, stores, monkeypatch):
        monkeypatch.setattr(trace_choice, "FEWEST_CANDIDATES", 4)
        monkeypatch.setattr(trace_choice, "CANDIDATES_A_TRACE", 1)
        stores.drop_texts(make_trace("t-1"))
        # the lowest is superseded, the next one has no texts any more
        assert choose_worst(own_engine, 1) == ["t-2"]

    def test_the_command_asks_about_them_and_goes_on_where_it_was_left(
        self, database_url, tmp_path, monkeypatch, capsys
    ):
        out = tmp_path / "annotations.jsonl"
        options = ["--app", "shop", "--worst", "2", "--random", "2", "--scorer", "context_precision"]

        def annotate(keys):
            monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
            with pytest.raises(SystemExit) as ended:
                run(["annotate", *options, "--out", str(out), "--database-url", database_url])
            assert ended.value.code == 0
            return capsys.readouterr().out

        assert "4 of 4 traces to annotate" in annotate("yhu nln y" * 2)
        assert "2 of 4 traces to annotate" in annotate("yhu nln y" * 2)
        assert "0 of 4 traces to annotate" in annotate("")
        ids = [json.loads(line)["trace_id"] for line in Path(out).read_text().splitlines()]
        assert len(set(ids)) == 4
        assert {"t-1", "t-2"} <= set(ids)


@pytest.mark.usefixtures("stores")
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ("--app", "shpo", "--worst", "2"),
            2,
            "--app shpo: nothing of this app is evaluated; did you mean shop?",
        ),
        (
            ("--app", "shpo", "--random", "2"),
            2,
            "--app shpo: nothing of this app is evaluated; did you mean shop?",
        ),
        (
            ("--app", "shop", "--worst", "2", "--scorer", "context_precison"),
            2,
            "--scorer context_precison: no such scorer; did you mean context_precision?",
        ),
        (("--app", "shop", "--worst", "2", "--judge", "nobody"), 2, "--judge nobody: no such judge"),
        (("--app", "shop", "--worst", "2", "--scorer", "faithfulness"), 1, "--worst: nothing matches"),
    ],
)
def test_a_wrong_name_and_an_empty_choice_are_told(database_url, capsys, options, code, said, *, tmp_path):
    with pytest.raises(SystemExit) as ended:
        run(["annotate", *options, "--out", str(tmp_path / "a.jsonl"), "--database-url", database_url])
    assert ended.value.code == code
    assert said in capsys.readouterr().err


class TestManyTraces:
    """A day of more blocks than are looked at."""

    @pytest.fixture
    def crowded(self, own_engine):
        ensure_partitions(own_engine, today=TODAY, days_ahead=0)
        with own_engine.begin() as connection:
            for statement in (_MANY_TRACES, _MANY_TEXTS, _MANY_EVALUATIONS, _MANY_SCORES):
                connection.exec_driver_sql(statement, {"day": TODAY, "now": NOW, "judge": FREE})
        return own_engine

    def test_a_part_is_looked_at_the_same_each_time(self, crowded):
        found, share = read_random(crowded, app="shop", days=[TODAY], limit=5, most_blocks=8)
        assert len(found) == 5
        assert 0 < share < 0.5
        assert read_random(crowded, app="shop", days=[TODAY], limit=5, most_blocks=8) == (found, share)
        everything, whole = read_random(crowded, app="shop", days=[TODAY], limit=2_000)
        assert (len(everything), whole) == (2_000, 1.0)
        assert {trace.trace_id for trace in found} < {trace.trace_id for trace in everything}

    def test_the_worst_of_a_part_are_in_order(self, crowded):
        places = [int(trace_id.removeprefix("m-")) for trace_id in choose_worst(crowded, 5, most_blocks=8)]
        assert len(places) == 5
        assert places == sorted(places)
        assert places[-1] > 5
        assert choose_worst(crowded, 3) == ["m-1", "m-2", "m-3"]

    def test_evaluations_are_counted_about(self, crowded):
        chosen = EvaluationFilter(judge=FREE)
        assert count_evaluations(crowded, chosen) == {TODAY: 2_000}
        about = count_evaluations(crowded, chosen, most_blocks=16)[TODAY]
        assert 500 < about < 8_000
        nobody = EvaluationFilter(judge="nobody")
        assert count_evaluations(crowded, nobody) == {}
        assert count_evaluations(crowded, nobody, most_blocks=1) == {TODAY: 1}, "the rest may hold some"


_KEY = "'m-' || g, 'shop', '', 1, %(day)s::date"
_MANY_TRACES = f"""
INSERT INTO trace (trace_id, app, record_key, revision, day, content_hash, admitted_at, occurred_at,
    occurred_at_guessed, environment, release, variant, sampling_probability, tags, usage, metadata, extra,
    wish, extraction)
SELECT {_KEY}, g::text, %(now)s, %(now)s, false, '', '', '', 1, '{{}}', '{{}}', '{{}}', '{{}}', '{{}}',
    '{{"format": "native"}}' FROM generate_series(1, 2000) g
"""  # noqa: S608  # constants
_MANY_TEXTS = f"""
INSERT INTO trace_text (trace_id, app, record_key, revision, day, query, turns, contexts, answer)
SELECT {_KEY}, 'q', '[]', '[{{"content": "c", "origin": "producer"}}]', 'a' FROM generate_series(1, 2000) g
"""  # noqa: S608  # constants
_MANY_EVALUATIONS = f"""
INSERT INTO evaluation (trace_id, app, record_key, revision, day, judge, fingerprint, state, sample_rate,
    created_at)
SELECT {_KEY}, %(judge)s, 'f', 'scored', 1, %(now)s FROM generate_series(1, 2000) g
"""  # noqa: S608  # constants
_MANY_SCORES = f"""
INSERT INTO score (trace_id, app, record_key, revision, day, judge, fingerprint, scorer, version, created_at,
    status, raw, reason, details)
SELECT {_KEY}, %(judge)s, 'f', 'context_precision', '1', %(now)s, 'scored', g / 2000.0, '', '{{}}'
FROM generate_series(1, 2000) g
"""  # noqa: S608  # constants
