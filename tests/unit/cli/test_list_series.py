"""`ragsonde list-series` tells what each process exposes."""

import json

import pytest

from ragsonde.cli.main import run


def call(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        run(["list-series", *arguments])
    assert ended.value.code in {None, 0}
    return capsys.readouterr().out


def test_scripts_read_what_each_series_is_and_how_processes_are_joined(capsys):
    by_name = {one["name"]: one for one in json.loads(call(capsys, "--output", "json"))}
    queue, flight = by_name["ragsonde_queue_messages"], by_name["ragsonde_in_flight"]
    assert (queue["type"], queue["labels"], queue["processes"]) == ("gauge", ["queue"], ["monitor"])
    assert (queue["over_processes"], flight["over_processes"]) == ("max", "sum")
    assert by_name["ragsonde_config_info"]["processes"] == ["worker", "monitor", "receiver"]
    assert by_name["ragsonde_score"]["buckets"][:3] == [0, 0.1, 0.2]


@pytest.mark.parametrize("series", ["ragsonde_context_tokens_total", "ragsonde_queue_oldest_seconds"])
def test_people_read_a_table(capsys, series):
    assert series in call(capsys)
