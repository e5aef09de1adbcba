"""add-a-format.md and add-an-alert.md: their code, as printed, does what they say."""

import json
import re
from pathlib import Path

import yaml

from builders.envelopes import wrap
from fakes.installed_packages import InstalledPackages
from ragsonde.decoding.table import decode
from ragsonde.exposition.series import MONITOR_SERIES, WORKER_SERIES
from ragsonde.plugins.formats import load_formats

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to"
FORMAT = (HOW_TO / "add-a-format.md").read_text()
ALERT = (HOW_TO / "add-an-alert.md").read_text()


def find_block(language, page):
    (block,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return block


def test_the_format_reads_the_message_that_is_shown(tmp_path, monkeypatch):
    group, name, module, target = re.search(
        r'entry-points\."(.+)"\]\n(\w+) = "(\w+):(\w+)"', find_block("toml", FORMAT)
    ).groups()
    with InstalledPackages(tmp_path, monkeypatch) as packages:
        packages.write(module, group=group, points={name: target}, code=find_block("python", FORMAT))
        decoded = decode(wrap(find_block("json", FORMAT).encode()), formats=load_formats())
    (record,) = decoded.records
    assert decoded.format == name
    assert record.message.trace_id == json.loads(find_block("json", FORMAT))["acme_note"]["id"]
    assert record.message.contexts == ["14 days.", "By card."]


def test_the_rule_asks_for_series_that_are_there_with_these_labels():
    (group,) = yaml.safe_load(find_block("yaml", ALERT))["groups"]
    (rule,) = group["rules"]
    declared = {one.full_name: one for one in (*WORKER_SERIES, *MONITOR_SERIES)}
    asked = re.findall(r"(ragsonde_\w+)\{app=", rule["expr"])
    assert len(asked) == 2
    assert all({"app", "environment"} <= set(declared[name].labels) for name in asked)
