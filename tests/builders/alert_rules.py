"""The rules of deploy/prometheus as values, and what an alert needs of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

PROMETHEUS = Path(__file__).parents[2] / "deploy" / "prometheus"
RULES = PROMETHEUS / "rules"
TESTS = PROMETHEUS / "tests"
RECORDED = re.compile(r"\b[a-z_]+:[a-z_]+:[a-z0-9_]+\b")
THRESHOLDS = "ragsonde_thresholds"


class Rule(NamedTuple):
    """One rule: its group, and what stands in the file."""

    group: str
    body: dict[str, Any]

    @property
    def name(self) -> str:
        """What is recorded, or the alert's name."""
        return str(self.body.get("record") or self.body["alert"])

    @property
    def is_alert(self) -> bool:
        """False for a rule that records."""
        return "alert" in self.body

    @property
    def text(self) -> str:
        """Everything that may name a series: the expression and the annotations, whose queries do, too."""
        return "\n".join([self.body["expr"], *self.body.get("annotations", {}).values()])

    @property
    def needs(self) -> set[str]:
        """Recorded series that it names."""
        return set(RECORDED.findall(self.text)) - {self.name}


def read_rules() -> list[Rule]:
    """All rules, group by group, as their files have them: what is recorded first."""
    return [
        Rule(group["name"], body)
        for name in ("thresholds", "recording", "quality", "regression", "judges", "pipeline")
        for group in yaml.safe_load((RULES / f"{name}.yaml").read_text())["groups"]
        for body in group["rules"]
    ]


def choose_needed(rules: list[Rule], alert: str) -> list[Rule]:
    """The alert and all that it needs, directly or through others, in the order of `rules`."""
    by_name = {rule.name: rule for rule in rules}
    needed: set[str] = set()
    waiting = {alert}
    while waiting:
        name = waiting.pop()
        needed.add(name)
        waiting |= by_name[name].needs - needed
    return [rule for rule in rules if rule.name in needed]


def list_test_files(alert: str) -> list[Path]:
    """The promtool tests of an alert."""
    return sorted(TESTS.glob(f"{alert}.yaml")) + sorted(TESTS.glob(f"{alert}.*.yaml"))
