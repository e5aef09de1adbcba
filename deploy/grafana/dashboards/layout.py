"""Puts panels in rows and rows on a dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import DashboardCursorSync, DashboardLinkType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboards.panels import Panel
    from dashboards.variables import Variable

TAG = "ragsonde"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row and what stands below it.

    Attributes:
        number: its id, among those of the panels.
        title: may name a variable.
        panels: from left to right.
        repeat: the variable for each of whose values the row stands once; '' for none.
    """

    number: int
    title: str
    panels: tuple[Panel, ...]
    repeat: str = ""


def lay_out(
    *,
    uid: str,
    title: str,
    description: str,
    variables: Sequence[Variable],
    annotations: Sequence[dashboard.AnnotationQuery],
    rows: Sequence[Row],
) -> dashboard.Dashboard:
    """A dashboard with links to the others.

    Args:
        uid: stable, as addresses name it.
        title: as listed.
        description: what it answers.
        variables: in the order shown.
        annotations: changes to be marked.
        rows: from top to bottom.
    """
    board = dashboard.Dashboard(title).uid(uid).description(description).tags([TAG]).readonly()
    board = board.time("now-6h", "now").refresh("1m").timezone("browser").version(1)
    board = board.tooltip(DashboardCursorSync.CROSSHAIR)
    link = dashboard.DashboardLink("ragsonde").type(DashboardLinkType.DASHBOARDS).tags([TAG])
    board = board.link(link.as_dropdown(False).include_vars(True).keep_time(True))
    for variable in variables:
        board = board.with_variable(variable)
    board = board.annotations(list(annotations))
    for row in rows:
        heading = dashboard.Row(row.title).id(row.number)
        board = board.with_row(heading.repeat(row.repeat) if row.repeat else heading)
        for panel in row.panels:
            board = board.with_panel(panel)
    return board
