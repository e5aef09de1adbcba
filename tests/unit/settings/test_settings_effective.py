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


def test_every_option_of_an_llm_judge_has_a_row():
    judges = '[{"name": "gpt", "kind": "litellm", "model": "openai/gpt-5-mini"}]'

    rows = {row.key: row.value for row in list_rows(read_with_origins(environ={"RAGSONDE_JUDGES": judges}))}

    assert rows["judges[0].timeout_seconds"] == 60.0
    assert rows["judges[0].model"] == "openai/gpt-5-mini"


def test_the_hash_differs_where_a_setting_differs():
    hashes = {
        hash_settings(read_settings(environ=environ))
        for environ in [{}, {"RAGSONDE_THREADS": "3"}, {"RAGSONDE_BROKER_URL": "amqp://a/"}]
    }

    assert len(hashes) == 3
    assert all(len(found) == 12 and int(found, 16) >= 0 for found in hashes)


def test_the_hash_is_the_same_for_the_same_settings_and_tells_nothing_of_passwords():
    first = hash_settings(read_settings(environ={"RAGSONDE_BROKER_URL": "amqp://u:one@a/"}))
    second = hash_settings(read_settings(environ={"RAGSONDE_BROKER_URL": "amqp://u:two@a/"}))

    assert first == second
