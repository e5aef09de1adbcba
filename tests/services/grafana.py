"""What the dashboards ask, with Grafana's variables and macros filled in: the one place that knows them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

FOLDER = Path(__file__).parents[2] / "deploy" / "grafana"
NAMES = ("quality", "pipeline", "judges")
ALL = {"app": ".*", "environment": ".*", "scorer": ".*", "judge": ".*"}
CHOSEN = {"window": "1h", "below": "0.4999", "page": "http://127.0.0.1:8321", "one_judge": "lexical@0123ab"}
INTERVALS = {"__rate_interval": "1m0s", "__range": "15m", "__interval": "15s"}

_TIME_FILTER = re.compile(r"\$__timeFilter\(([\w.]+)\)")
_VARIABLE = re.compile(r"\$\{(\w+)(?::regex)?\}|\$(\w+)")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One query of a panel, or of an annotation.

    Attributes:
        panel: as in the JSON; or the annotation.
        expression: PromQL; '' where it asks Postgres.
        statement: SQL; '' where it asks Prometheus.
    """

    panel: dict[str, Any]
    ref_id: str
    expression: str = ""
    statement: str = ""
    is_instant: bool = False


def read_dashboard(name: str) -> dict[str, Any]:
    """A committed dashboard."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def list_panels(board: dict[str, Any]) -> list[dict[str, Any]]:
    """Its panels without the headings of rows."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def list_asked(board: dict[str, Any]) -> Iterator[Asked]:
    """Every query of its panels."""
    for panel in list_panels(board):
        for target in panel["targets"]:
            yield Asked(
                panel=panel,
                ref_id=target["refId"],
                expression=target.get("expr", ""),
                statement=target.get("rawSql", ""),
                is_instant=target.get("instant", False),
            )


def list_marks(board: dict[str, Any]) -> Iterator[Asked]:
    """Every query of its annotations; the panel is the annotation."""
    for mark in board["annotations"]["list"]:
        target = mark.get("target", {})
        yield Asked(
            panel=mark,
            ref_id=target.get("refId", ""),
            expression=mark.get("expr", ""),
            statement=target.get("rawSql", ""),
        )


def fill_expression(text: str, values: Mapping[str, str] = {}) -> str:
    """PromQL as Grafana would send it, with everything chosen unless `values` says otherwise."""
    known = {**ALL, **CHOSEN, **INTERVALS, **values}
    return _VARIABLE.sub(lambda match: known[match[1] or match[2]], text)


def fill_statement(text: str, values: Mapping[str, str] = {}, *, since: datetime, until: datetime) -> str:
    """SQL as Grafana would send it; the time is what its macro makes of the dashboard's."""
    edges = {"$__timeFrom()": since, "$__timeTo()": until}
    for macro, moment in edges.items():
        text = text.replace(macro, f"'{moment.isoformat()}'::timestamptz")
    between = f"BETWEEN '{since.isoformat()}' AND '{until.isoformat()}'"
    return fill_expression(_TIME_FILTER.sub(lambda match: f"{match[1]} {between}", text), values)


def list_variables_of(text: str) -> set[str]:
    """Names of the dashboard's own variables in a text."""
    found = {match[1] or match[2] for match in _VARIABLE.finditer(text)}
    return {name for name in found if not name.startswith("__")}
