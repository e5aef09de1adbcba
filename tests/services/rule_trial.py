"""Runs an alert's promtool tests on rules that may have a fault."""

from __future__ import annotations

import tempfile
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from builders.alert_rules import Rule, choose_needed, list_test_files
from services.promtool import run_tool

if TYPE_CHECKING:
    from builders.rule_mutants import Mutant


def notice(mutant: Mutant, rules: list[Rule], *, promtool: str) -> bool:
    """True when a test of an alert that needs the rule fails on the mutant."""
    name = mutant.rule.name
    changed = [mutant.rule if rule.name == name else rule for rule in rules]
    return any(
        find_failure(alert.name, changed, promtool=promtool)
        for alert in rules
        if alert.is_alert and name in {rule.name for rule in choose_needed(rules, alert.name)}
    )


def find_failure(alert: str, rules: list[Rule], *, promtool: str) -> str:
    """What promtool says where a test of the alert fails on these rules; only those it needs are loaded."""
    needed = choose_needed(rules, alert)
    with tempfile.TemporaryDirectory(prefix="ragsonde-rules-") as folder:
        loaded = Path(folder) / "rules.yaml"
        groups = [
            {"name": group, "rules": [rule.body for rule in members]}
            for group, members in groupby(needed, key=lambda rule: rule.group)
        ]
        loaded.write_text(yaml.safe_dump({"groups": groups}))
        for file in list_test_files(alert):
            tests = yaml.safe_load(file.read_text())
            tests |= {"rule_files": [str(loaded)], "group_eval_order": [group["name"] for group in groups]}
            copy = Path(folder) / file.name
            copy.write_text(yaml.safe_dump(tests))
            code, told = run_tool(promtool, "test", "rules", str(copy))
            if code != 0:
                return told
    return ""
