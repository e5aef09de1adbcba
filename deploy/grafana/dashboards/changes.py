"""Vertical lines where something changed: a drop beside one of them is most likely its effect."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog import builder as cog_builder
from grafana_foundation_sdk.models import dashboard as models

from dashboards.expressions import PLACE, grow, read
from dashboards.queries import POSTGRES, PROMETHEUS, describe_statement
from dashboards.statements import TOLD_FALLS
from ragsonde.exposition.series import CONFIG, EXTRACTION, SCORE

RECENT = "5m"
BEFORE = "6h"
"""What was seen within so long before is not new: a quiet night or a restart is no change."""


class _Change(models.AnnotationQuery):
    """An annotation from Prometheus; its words are of Grafana's own editor and unknown to the SDK."""

    words: str = ""

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "titleFormat": self.words, "step": "60s"}


class _ChangeBuilder(dashboard.AnnotationQuery, cog_builder.Builder[models.AnnotationQuery]):
    def __init__(self, words: str) -> None:
        super().__init__()
        self._internal = _Change(datasource=PROMETHEUS)
        self._internal.words = words


class _Falls(models.AnnotationQuery):
    """An annotation from Postgres; the SDK knows targets only of Grafana's own annotations."""

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "target": describe_statement(TOLD_FALLS, ref_id="Anno")}


class _FallsBuilder(dashboard.AnnotationQuery, cog_builder.Builder[models.AnnotationQuery]):
    def __init__(self) -> None:
        super().__init__()
        self._internal = _Falls(datasource=POSTGRES)


def mark_falls() -> dashboard.AnnotationQuery:
    """Falls of scores that were told, each from its beginning to its end, with a link to the page."""
    return _FallsBuilder().name("Scores fell").datasource(POSTGRES).enable(True).icon_color("red")


def mark_changes() -> tuple[dashboard.AnnotationQuery, ...]:
    """All of them."""
    scores = read(SCORE, *PLACE, part="_count")
    rules = read(EXTRACTION, 'field=~"contexts|query|answer"')
    release, answers = "release {{release}} of {{app}} {{environment}}", "{{judge}} answers"
    found = "{{field}} of {{app}} {{environment}} found by {{rule}}"
    place = ("app", "environment")
    return (
        _mark("New release", release, "green", _turn_to(scores, "release", among=place)),
        _mark("Judge or model changed", answers, "purple", _turn_to(scores, "judge")),
        _mark("Scorer or its options changed", "{{scorer}}", "blue", _turn_to(scores, "scorer")),
        _mark("Configuration changed", "configuration {{hash}}", "orange", _appear(read(CONFIG), "hash")),
        _mark("Extraction rule changed", found, "yellow", _turn_to(rules, "rule", among=(*place, "field"))),
    )


def _mark(name: str, words: str, colour: str, expression: str) -> dashboard.AnnotationQuery:
    mark = _ChangeBuilder(words).name(name).datasource(PROMETHEUS).enable(True).icon_color(colour)
    return mark.expr(expression)


def _appear(selector: str, label: str) -> str:
    """Values of a label that were not there before."""
    of_label = f"group by ({label})"
    return (
        f"{of_label} ({selector}) unless {of_label} (present_over_time({selector}[{BEFORE}] offset {RECENT}))"
    )


def _turn_to(selector: str, label: str, *, among: tuple[str, ...] = ()) -> str:
    """Values of a label that counters grow under now, and before did not while others did.

    That a value is exposed tells nothing: a release that is rolled back to has been so all the time. Nor does
    that it did not grow: at night none does.

    Args:
        selector: of the counters.
        label: whose values are told.
        among: labels whose values stand for themselves: a release of another app is none of this one's.
    """
    of_all = f"group by ({', '.join(among)})" if among else "group"
    of_each = f"group by ({', '.join((*among, label))})"
    was_there = f"present_over_time({selector}[{BEFORE}] offset {RECENT})"
    has_grown = f"(increase({selector}[{BEFORE}] offset {RECENT}) > 0)"
    now = f"{of_each} ({grow(selector, RECENT)} > 0)"
    returned = f"({now} unless {of_each} {has_grown} and on ({', '.join(among)}) {of_all} {has_grown})"
    return f"({now} unless {of_each} ({was_there})) or {returned}"
