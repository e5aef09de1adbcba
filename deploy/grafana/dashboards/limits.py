"""Limits of the alerts, for panels that draw them: read from the file of the rules, where they stand."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml

THRESHOLDS = Path(__file__).parents[2] / "prometheus" / "rules" / "thresholds.yaml"


def read_limit(name: str) -> float:
    """The number of a threshold.

    Args:
        name: without prefix and suffix: `judge_drift` is `ragsonde:judge_drift:limit`.

    Raises:
        KeyError: there is no such threshold.
    """
    return _read_limits()[f"ragsonde:{name}:limit"]


@cache
def _read_limits() -> dict[str, float]:
    groups = yaml.safe_load(THRESHOLDS.read_text(encoding="utf-8"))["groups"]
    return {
        rule["record"]: float(re.sub(r"^vector\((.*)\)$", r"\1", rule["expr"]))
        for group in groups
        for rule in group["rules"]
    }
