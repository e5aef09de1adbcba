"""Where alerts are told: as it is read, checked and shown; no secret can be read from it."""

from __future__ import annotations

import json

import pytest

from ragsonde.cli.alert_sinks import build_alert_sinks
from ragsonde.settings import read_settings
from ragsonde.settings.effective import hash_settings, show_values
from ragsonde_schemas.errors import ConfigError

GRAFANA = {"url": "https://grafana.example", "token": "gr4fana-s3cret"}
WEBHOOK = {"url": "https://hooks.example/x"}


def read(**regression):
    return read_settings(environ={"RAGSONDE_REGRESSION": json.dumps(regression)})


def test_both_are_built_and_the_token_is_not_shown():
    settings = read(webhook=WEBHOOK, grafana=GRAFANA)
    assert list(build_alert_sinks(settings.regression)) == ["webhook", "grafana"]
    assert "s3cret" not in json.dumps(show_values(settings)) + repr(settings)
    assert build_alert_sinks(read().regression) == {}


def test_where_alerts_are_told_makes_no_other_deployment():
    one, other = read(webhook=WEBHOOK, grafana=GRAFANA), read()
    assert hash_settings(one) == hash_settings(other)
    assert hash_settings(read(smallest_drop=0.05)) != hash_settings(other)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"webhook": {}}, "needs either `url` or `url_file`"),
        ({"webhook": {"url": "ftp://x/y"}}, "no http or https URL"),
        ({"webhook": {"url": "https://u:p4ssword@x/y"}}, "use url_file"),
        ({"webhook": {**WEBHOOK, "token": "x"}}, "token"),
        ({"grafana": {**GRAFANA, "token_file": "f"}}, "keep one of them"),
        ({"webhook": {**WEBHOOK, "timeout_seconds": 0}}, "timeout_seconds"),
    ],
)
def test_what_is_wrong_is_told_without_the_secret(given, message):
    with pytest.raises(ConfigError, match=message) as error:
        read(**given)
    assert "p4ssword" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"webhook": {**WEBHOOK, "headers_file": "missing"}}, "regression.webhook.headers_file"),
        ({"webhook": {"url_file": "missing"}}, "regression.webhook.url_file"),
        ({"grafana": {"url": "https://g", "token_file": "missing"}}, "regression.grafana.token_file"),
    ],
)
def test_a_file_that_is_not_there_is_found_at_the_start(given, key):
    with pytest.raises(ConfigError, match=key):
        build_alert_sinks(read(**given).regression)
