import json
from pathlib import Path

import pytest

from ragsonde.settings import Settings, read_settings, read_with_origins
from ragsonde.settings.effective import hash_settings, list_rows


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_every_setting_has_a_row():
    keys = [row.key for row in list_rows(read_with_origins(environ={}))]

    assert {key.partition(".")[0].partition("[")[0] for key in keys} == set(Settings.model_fields)
    assert len(keys) == len(set(keys))


def test_a_row_tells_value_and_origin():
    rows = list_rows(read_with_origins(environ={"RAGSONDE_JUDGES__LEXICAL__SAMPLE": "0.25"}))

    assert ("judges[0].sample", 0.25, "RAGSONDE_JUDGES__LEXICAL__SAMPLE") in rows
    assert ("judges[0].name", "lexical", "default") in rows
    assert "judges[0].temperature" not in {row.key for row in rows}


def test_what_is_not_written_inside_an_entry_or_a_nested_setting_is_a_default():
    Path("ragsonde.yaml").write_text(
        "judges:\n"
        "  - {name: gpt, kind: litellm, model: openai/gpt-5-mini, sample: 0.5, budget: {usd_per_day: 5}}\n"
        "extraction: [{match: {app: shop}, app: shop}]\n",
        encoding="utf-8",
    )
    origins = {row.key: row.origin for row in list_rows(read_with_origins(environ={}))}
    assert origins["judges[0].temperature"] == "default"
    assert origins["judges[0].budget.calls_per_day"] == "default"
    for key in ("judges[0].sample", "judges[0].model", "judges[0].budget.usd_per_day"):
        assert origins[key] == "ragsonde.yaml", key
    assert {origin for key, origin in origins.items() if key.startswith("extraction[0]")} == {"ragsonde.yaml"}


def test_every_option_of_an_llm_judge_has_a_row():
    judges = '[{"name": "gpt", "kind": "litellm", "model": "openai/gpt-5-mini"}]'

    rows = {row.key: row.value for row in list_rows(read_with_origins(environ={"RAGSONDE_JUDGES": judges}))}

    assert rows["judges[0].timeout_seconds"] == 60.0
    assert rows["judges[0].model"] == "openai/gpt-5-mini"
    assert "judges[0].options" not in rows


GPT = {"name": "gpt", "kind": "litellm", "model": "openai/gpt-5-mini"}
OF_ONE_PROCESS = {
    "broker_url": "amqp://receiver@other/",
    "broker_url_file": "broker",
    "data_dir": "elsewhere",
    "database_url": "postgresql://ragsonde_monitor@other/",
    "database_url_file": "database",
    "host": "localhost",
    "host_names": "rag.example",
    "series": '{"apps": ["shop"]}',
    "insecure": "true",
    "links": '{"trace": "https://traces.example/{trace_id}"}',
    "log_format": "json",
    "log_level": "debug",
    "metrics": '{"token": "s3cret"}',
    "page": '{"auth": "token", "token": "s3cret-s3cret-s3cret"}',
    "ports": '{"monitor": 1}',
    "prefetch_multiplier": "2",
    "receiver": '{"token": "s3cret"}',
    "score_sinks": '[{"kind": "webhook", "url": "http://127.0.0.1/"}]',
    "threads": "3",
    "user_key": "0123456789abcdef",
    "user_key_file": "key",
}
OF_THE_DEPLOYMENT = {
    "assembly": '{"quiet_seconds": 7}',
    "allow_message_overrides": "true",
    "extraction": '[{"query": "metadata.question"}]',
    "judges": json.dumps([GPT]),
    "max_body_bytes": "1000",
    "queues": "other",
    "regression": '{"smallest_drop": 0.05}',
    "redaction": '{"patterns": ["email"]}',
    "retention_days": '{"judge_reply": 1}',
    "scorers": '{"context_position": {}}',
    "store_text": "none",
    "stratum_tags": "billing,returns",
    "user_id_names": "app.customer",
}


def hash_with(**given):
    """The hash of a deployment on `amqp://b/` and `postgresql://d/`, with some settings given otherwise."""
    Path("broker").write_text("amqp://b/", encoding="utf-8")
    Path("database").write_text("postgresql://d/", encoding="utf-8")
    names = {"broker_url": "amqp://b/", "database_url": "postgresql://d/"} | given
    for name in ("broker_url", "database_url"):
        if f"{name}_file" in given:
            del names[name]
    environ = {f"RAGSONDE_{name.upper()}": value for name, value in names.items()}
    return hash_settings(read_settings(environ=environ))


def test_every_setting_belongs_to_one_process_or_to_the_deployment():
    assert set(OF_ONE_PROCESS) | set(OF_THE_DEPLOYMENT) == set(Settings.model_fields)


@pytest.mark.parametrize(("name", "value"), OF_ONE_PROCESS.items())
def test_processes_of_one_deployment_have_one_hash(name, value):
    assert hash_with(**{name: value}) == hash_with()


@pytest.mark.parametrize(("name", "value"), OF_THE_DEPLOYMENT.items())
def test_deployments_that_differ_have_two_hashes(name, value):
    found = hash_with(**{name: value})

    assert found != hash_with()
    assert len(found) == 12
    assert int(found, 16) >= 0


def test_where_a_judge_has_its_key_from_is_not_in_the_hash():
    ways = [{}, {"api_key": "k"}, {"api_key_env": "KEY"}, {"api_key_file": "key"}]

    assert len({hash_with(judges=json.dumps([GPT | way])) for way in ways}) == 1


def test_the_hash_is_the_same_for_the_same_settings_and_tells_nothing_of_passwords():
    first = hash_settings(read_settings(environ={"RAGSONDE_BROKER_URL": "amqp://u:one@a/"}))
    second = hash_settings(read_settings(environ={"RAGSONDE_BROKER_URL": "amqp://u:two@a/"}))

    assert first == second
