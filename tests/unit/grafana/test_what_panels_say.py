"""Colours, units and words of panels say the same as what is shown, and as the alerts."""

import re

import pytest
import yaml

from builders.alert_rules import RULES
from dashboards import limits
from dashboards.written import render_dashboards
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import FORMULAS
from services.grafana import NAMES, list_panels, read_dashboard

PANELS = {f"{name}-{panel['id']}": panel for name in NAMES for panel in list_panels(read_dashboard(name))}
LIMITS = {
    "judges-202": ("judge_error_share", "judge_unavailable_share"),
    "judges-403": ("judge_drift",),
    "pipeline-102": ("queue_messages",),
    "pipeline-103": ("parked_messages",),
    "pipeline-301": ("queue_wait_seconds",),
    "pipeline-303": ("queue_messages",),
    "pipeline-505": ("monitor_age_seconds",),
}


def list_steps(panel):
    return [
        (step["value"], step["color"]) for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    ]


def list_overrides(panel, property_id):
    """Values of a property by the pattern of the lines that have it of their own."""
    return {
        override["matcher"]["options"]: value["value"]
        for override in panel["fieldConfig"]["overrides"]
        for value in override["properties"]
        if value["id"] == property_id
    }


@pytest.mark.parametrize(("panel", "names"), LIMITS.items())
def test_a_limit_of_an_alert_is_drawn_as_it_stands_in_the_rules(panel, names):
    text = (RULES / "thresholds.yaml").read_text()
    for name in names:
        (found,) = re.findall(rf"record: ragsonde:{name}:limit\n +expr: vector\((.+)\)", text)
        assert float(found) in {value for value, _ in list_steps(PANELS[panel])}


def test_another_limit_in_the_rules_is_another_line(tmp_path, monkeypatch):
    text = (RULES / "thresholds.yaml").read_text()
    changed = tmp_path / "thresholds.yaml"
    changed.write_text(
        text.replace("drift:limit\n        expr: vector(0.03)", "drift:limit\n        expr: vector(0.07)")
    )
    monkeypatch.setattr(limits, "THRESHOLDS", changed)
    limits._read_limits.cache_clear()
    try:
        written = yaml.safe_load(render_dashboards()["judges.json"])
    finally:
        limits._read_limits.cache_clear()
    (panel,) = (one for one in list_panels(written) if one["id"] == 403)
    assert list_steps(panel) == [(None, "red"), (-0.07, "green"), (0.07, "red")]
    assert "0.07" in panel["description"]


@pytest.mark.parametrize(
    ("line", "good"),
    [
        ("faithfulness by gpt@3fa2c1", 0.8),
        ("context_relevance by gpt@3fa2c1", 0.7),
        ("context_precision:answer@1f2e3d by lexical@0123ab", 0.7),
        ("rubric:tone by gpt@3fa2c1", 0.7),
    ],
)
def test_a_mean_has_the_colours_of_its_scorers_bands(line, good):
    colours = list_overrides(PANELS["quality-101"], "thresholds")
    (steps,) = (value["steps"] for pattern, value in colours.items() if re.search(pattern.strip("/"), line))
    assert [(step["value"], step["color"]) for step in steps] == [
        (None, "red"),
        (0.4, "orange"),
        (good, "green"),
    ]


def test_a_scorer_without_a_better_direction_has_no_colour():
    colours = list_overrides(PANELS["quality-101"], "thresholds")
    assert list_steps(PANELS["quality-101"]) == [(None, "blue")]
    targets = [one.id for one in FORMULAS if one.direction is Direction.TARGET]
    assert targets
    for name in targets:
        assert not [pattern for pattern in colours if re.search(pattern.strip("/"), f"{name} by x")]


def test_a_number_of_calls_is_not_shown_in_dollars():
    assert PANELS["judges-303"]["fieldConfig"]["defaults"]["unit"] == "currencyUSD"
    units = list_overrides(PANELS["judges-303"], "unit")
    named = {
        target["legendFormat"].replace("{{judge}}", "gpt@3fa2c1")
        for target in PANELS["judges-303"]["targets"]
    }
    assert {name for name in named for pattern in units if re.search(pattern.strip("/"), name)} == {
        "gpt@3fa2c1: calls without a price"
    }
    assert set(units.values()) == {"short"}


@pytest.mark.parametrize("panel", PANELS)
def test_a_share_of_nothing_is_not_0(panel):
    """It is absent; where that is no fault the panel says why."""
    shown = PANELS[panel]
    if shown["fieldConfig"]["defaults"]["unit"] in {"percentunit", "none"}:
        assert not [
            target for target in shown["targets"] if re.search(r"\b0 \*|vector\(0\)", target.get("expr", ""))
        ]


@pytest.mark.parametrize("panel", ["judges-202", "judges-206", "judges-302", "judges-401", "judges-403"])
def test_a_panel_that_may_rightly_be_empty_says_why(panel):
    assert PANELS[panel]["fieldConfig"]["defaults"]["noValue"]


def test_agreement_is_called_little_where_it_is_red():
    steps = list_steps(PANELS["judges-402"])
    assert [value for value, _ in steps[1:]] == [
        float(found) for found in re.findall(r"\d?\.\d+", PANELS["judges-402"]["description"])
    ]


def test_the_drift_of_the_alert_is_the_one_that_is_drawn_both_ways():
    text = (RULES / "thresholds.yaml").read_text()
    (errors,) = re.findall(r"record: ragsonde:judge_drift_errors:limit\n +expr: vector\((.+)\)", text)
    drawn = [target["expr"].partition(" * ")[0] for target in PANELS["judges-403"]["targets"][1:]]
    assert drawn == [errors, f"-{errors}"]
    assert f"{errors} standard errors" in PANELS["judges-403"]["description"]
