"""Vertical lines where something changed: a drop beside one of them is most likely its effect."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog import builder as cog_builder
from grafana_foundation_sdk.models import dashboard as models

from dashboards.expressions import PLACE, read
from dashboards.queries import PROMETHEUS
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


def mark_changes() -> tuple[dashboard.AnnotationQuery, ...]:
    """All of them."""
    scores = read(SCORE, *PLACE, part="_count")
    rules = read(EXTRACTION, 'field=~"contexts|query|answer"')
    return (
        _mark("New release", "release {{release}} of {{app}} {{environment}}", "green", scores, "release"),
        _mark("Judge or model changed", "{{judge}} answers", "purple", scores, "judge"),
        _mark("Scorer or its options changed", "{{scorer}}", "blue", scores, "scorer"),
        _mark("Configuration changed", "configuration {{hash}}", "orange", read(CONFIG), "hash"),
        _mark("Extraction rule changed", "{{field}} found by {{rule}}", "yellow", rules, "field", "rule"),
    )


def _mark(name: str, words: str, colour: str, selector: str, *labels: str) -> dashboard.AnnotationQuery:
    by = ("app", "environment", *labels) if labels == ("release",) else labels
    of_labels = f"group by ({', '.join(by)})"
    seen_before = f"{of_labels} (present_over_time({selector}[{BEFORE}] offset {RECENT}))"
    expression = f"{of_labels} ({selector} > 0) unless {seen_before}"
    mark = _ChangeBuilder(words).name(name).datasource(PROMETHEUS).enable(True).icon_color(colour)
    return mark.expr(expression)
