# ruff: noqa: INP001  # a program, in no package
"""Writes the rules of deploy/prometheus as one PrometheusRule, for the Prometheus operator.

A test keeps them equal.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
RULES = HERE.parent / "prometheus" / "rules"
TARGET = HERE / "components" / "prometheus-operator" / "prometheus-rule.yaml"
HEAD = """\
# Written by write_prometheus_rule.py from deploy/prometheus/rules: change those, and run it again.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: ragsonde
spec:
  groups:
"""
_KEY = "groups:\n"


def write_rule() -> str:
    """The manifest's text: the groups of all files, in the order of their names, comments included."""
    return HEAD + "".join(map(_indent_groups, sorted(RULES.glob("*.yaml"))))


def _indent_groups(file: Path) -> str:
    """What stands below `groups:`, two columns further in."""
    _, _, groups = file.read_text(encoding="utf-8").partition(_KEY)
    lines = groups.splitlines()
    return "".join(f"  {line}\n" if line.strip() else "\n" for line in lines)


if __name__ == "__main__":
    TARGET.write_text(write_rule(), encoding="utf-8")
