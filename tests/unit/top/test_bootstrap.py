"""A worker's parts agree with its settings."""

import json
import re

from builders.envelopes import wrap_json
from ragsonde.bootstrap.series import build_worker_series
from ragsonde.bootstrap.worker import build_database_listener, build_worker
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import EXTRACTION, WORKER_SERIES
from ragsonde.extraction.table import find_fields
from ragsonde.intake.consumption import Consumption
from ragsonde.judging.table import build_judges
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings


def test_functions_may_give_as_much_as_a_message_may_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long_texts.py").write_text("def contexts(trace): return ['x' * 51]")
    environ = {
        "RAGSONDE_MAX_BODY_BYTES": "50",
        "RAGSONDE_EXTRACTION": json.dumps([{"contexts": {"function": "long_texts:contexts"}}]),
    }
    parts = build_worker(
        read_settings(environ=environ),
        broker_url="amqp://127.0.0.1/",
        database_url="postgresql://127.0.0.1/none",
        version="0",
    )
    (record,) = decode(wrap_json({"trace_id": "t"}), limits=DecodingLimits()).records
    (found,) = find_fields(record)

    assert parts.stages.resolver.resolve(found, record).failure == (
        "contexts: extractor long_texts:contexts gave 51 bytes, expected at most 50, as in a message: return "
        "less, or raise max_body_bytes"
    )
    assert parts.stages.limits.body_bytes == 50


def test_the_rules_of_any_configuration_are_named_in_the_series(caplog):
    paths = [f"metadata.p{number}" for number in range(400)]
    settings = read_settings(environ={"RAGSONDE_EXTRACTION": json.dumps([{"query": paths}])})
    series = build_worker_series(settings, scorers=(), judges={}, version="0")

    for path in paths:
        series.add(EXTRACTION, field="query", rule=f"mapping:{path}", app="", environment="")

    assert caplog.records == []
    assert b'rule="mapping:metadata.p399"' in series.render().body
    assert b'rule="other"' not in series.render().body


def test_scores_of_fallbacks_are_born_at_0():
    options = {
        "name": "gpt",
        "kind": "litellm",
        "model": "openai/a",
        "fallbacks": [{"model": "openai/b"}, {"model": "openai/a"}],
    }
    settings = read_settings(environ={"RAGSONDE_JUDGES": json.dumps([options])})
    judges = build_judges(settings.judges)
    scorers = build_scorers({"context_position": {}})
    series = build_worker_series(settings, scorers=scorers, judges=judges, version="0")

    lines = series.render().body.decode().splitlines()
    own = f'judge="gpt@{judges["gpt"].fingerprint[:6]}"'
    born = {
        name: {re.search('judge="[^"]*"', line)[0] for line in lines if line.startswith(f"ragsonde_{name}{{")}
        for name in ("unscored_total", "evaluations_total")
    }
    assert len(born["unscored_total"]) == 2
    assert own in born["unscored_total"]
    assert born["evaluations_total"] == {own}


def test_a_lost_database_is_counted_with_each_attempt_and_its_return_is_not():
    series, consumption = Series(WORKER_SERIES), Consumption()
    hear = build_database_listener(consumption, series)
    for is_back in (False, False, True):
        hear(is_back)
    assert b"ragsonde_database_lost_total 2.0\n" in series.render().body
    assert not consumption.is_paused
