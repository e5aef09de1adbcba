"""Makers of panels: every one has a number, a title, a description, a unit and something to ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from grafana_foundation_sdk.builders import bargauge, common, dashboard, heatmap, stat, table, timeseries
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models.dashboard import (
    DashboardLinkType,
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
)
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode

from dashboards.queries import POSTGRES, PROMETHEUS, REF_IDS, PromQuery, Query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Panel: TypeAlias = (
    "timeseries.Panel | stat.Panel | bargauge.Panel | table.Panel | heatmap.Panel"  # what the makers give
)

GOOD, NOTICE, BAD, PLAIN = "green", "orange", "red", "blue"
SHARE, PLAIN_NUMBER, SECONDS, A_MINUTE, COUNT = "percentunit", "none", "s", "cpm", "short"
DOLLARS, MOMENT, DAYS = "currencyUSD", "dateTimeAsIso", "d"
NARROW, HALF, FULL = 6, 12, 24
HEIGHT, LOW_HEIGHT, TALL_HEIGHT = 8, 5, 12


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What every panel has.

    Attributes:
        number: its id, which links name; it never changes and is never used again.
        title: a few words.
        description: what it shows, and what to do when it moves.
        unit: one of Grafana's.
        steps: colours from which value on, the lowest first without a value; () is one plain colour.
        width: of 24 columns.
        height: in rows of the grid.
        maximum: of the axis, where the values have one.
        decimals: shown.
        no_value: what stands where nothing is found, if that is no fault.
    """

    number: int
    title: str
    description: str
    unit: str
    steps: tuple[tuple[float | None, str], ...] = ()
    width: int = HALF
    height: int = HEIGHT
    maximum: float | None = None
    decimals: int | None = None
    no_value: str = ""

    def dress(self, panel: Panel, *queries: Query, as_table: bool = False) -> Panel:
        """The panel with all this and its queries."""
        panel = panel.id(self.number).title(self.title).description(self.description).unit(self.unit)
        panel = panel.span(self.width).height(self.height).thresholds(_build_steps(self.steps))
        panel = panel.datasource(PROMETHEUS if isinstance(queries[0], PromQuery) else POSTGRES)
        if self.maximum is not None:
            panel = panel.min(0).max(self.maximum)
        if self.decimals is not None:
            panel = panel.decimals(self.decimals)
        if self.no_value:
            panel = panel.no_value(self.no_value)
        for ref_id, query in zip(REF_IDS, queries, strict=False):
            panel = panel.with_target(query.build(ref_id, as_table=as_table))
        return panel


def draw_lines(
    frame: Frame,
    *queries: Query,
    is_stacked: bool = False,
    calcs: tuple[str, ...] = (),
    least_power: float | None = None,
) -> Panel:
    """Lines over time; where the steps have limits they are drawn dashed.

    Args:
        frame: of the panel.
        queries: one or several lines each.
        is_stacked: one line upon the other.
        calcs: numbers in the legend.
        least_power: where given, each step of the axis is ten times the one before, from there on.
    """
    panel = timeseries.Panel().line_width(2).fill_opacity(20 if is_stacked else 0)
    panel = panel.show_points(common_models.VisibilityMode.AUTO).span_nulls(False)
    legend = common.VizLegendOptions().placement(common_models.LegendPlacement.BOTTOM).show_legend(True)
    panel = panel.legend(legend.display_mode(common_models.LegendDisplayMode.LIST).calcs(list(calcs)))
    panel = panel.tooltip(common.VizTooltipOptions().mode(common_models.TooltipDisplayMode.MULTI))
    if is_stacked:
        panel = panel.stacking(common.StackingConfig().mode(common_models.StackingMode.NORMAL).group("A"))
    if len(frame.steps) > 1:
        style = common.GraphThresholdsStyleConfig().mode(common_models.GraphThresholdsStyleMode.DASHED)
        panel = panel.thresholds_style(style)
    panel = panel.color_scheme(dashboard.FieldColor().mode(FieldColorModeId.PALETTE_CLASSIC_BY_NAME))
    panel = panel.axis_soft_min(least_power or 0)
    if least_power is not None:
        scale = common.ScaleDistributionConfig().type(common_models.ScaleDistribution.LOG).log(10)
        panel = panel.scale_distribution(scale)
    return frame.dress(panel, *queries)


def draw_band(frame: Frame, *, middle: PromQuery, lower: PromQuery, upper: PromQuery) -> Panel:
    """A line within the band that it may as well lie in."""
    panel = draw_lines(frame, middle, lower, upper)
    edge = [
        DynamicConfigValue("custom.lineWidth", 0),
        DynamicConfigValue("custom.showPoints", "never"),
        DynamicConfigValue("custom.hideFrom", {"legend": True, "tooltip": False, "viz": False}),
    ]
    filled = [
        DynamicConfigValue("custom.fillBelowTo", lower.legend),
        DynamicConfigValue("custom.fillOpacity", 25),
    ]
    return panel.override_by_name(lower.legend, edge).override_by_name(upper.legend, [*edge, *filled])


def show_numbers(frame: Frame, *queries: Query) -> Panel:
    """Large numbers, coloured by the steps."""
    panel = stat.Panel().graph_mode(common_models.BigValueGraphMode.NONE).reduce_options(_last())
    colour = common_models.BigValueColorMode.VALUE
    panel = panel.color_mode(colour).text_mode(common_models.BigValueTextMode.AUTO)
    return frame.dress(_colour_by_steps(panel), *queries)


def show_bars(frame: Frame, *queries: Query) -> Panel:
    """A bar for each line, longest where most is."""
    panel = bargauge.Panel().display_mode(common_models.BarGaugeDisplayMode.GRADIENT).reduce_options(_last())
    panel = panel.orientation(common_models.VizOrientation.HORIZONTAL).show_unfilled(True)
    return frame.dress(_colour_by_steps(panel), *queries)


def draw_heatmap(frame: Frame, query: PromQuery) -> Panel:
    """How many fell into which bucket, over time."""
    colour = heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Blues").steps(32)
    panel = heatmap.Panel().calculate(False).color(colour).cell_gap(1).show_legend()
    panel = panel.y_axis(heatmap.YAxisConfig().unit(PLAIN_NUMBER)).exemplars_color("rgba(255,120,0,0.8)")
    scale = common.ScaleDistributionConfig().type(common_models.ScaleDistribution.LINEAR)
    panel = panel.scale_distribution(scale)
    return frame.dress(panel, query)


def list_rows(
    frame: Frame,
    *queries: Query,
    columns: Mapping[str, str],
    units: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    widths: Mapping[str, int] | None = None,
) -> Panel:
    """A table.

    Args:
        frame: of the panel.
        queries: several are merged by the labels that they share.
        columns: heading by the column's name as queried, in the order shown; a link still needs the latter.
        units: of columns that have another one, by heading.
        links: by heading, the address that a cell leads to.
        widths: in pixels, by heading.
    """
    plain = table.Panel().align(common_models.FieldTextAlignment.AUTO).filterable(True)
    panel = frame.dress(plain, *queries, as_table=True)
    if len(queries) > 1:
        panel = panel.with_transformation(DataTransformerConfig(id_val="merge", options={}))
        order = {"indexByName": {name: place for place, name in enumerate(columns)}}
        options = {**order, "excludeByName": {"Time": True}, "renameByName": dict(columns)}
        panel = panel.with_transformation(DataTransformerConfig(id_val="organize", options=options))
    else:
        # named, not renamed: a link finds the field by its name
        for name, heading in columns.items():
            panel = panel.override_by_name(name, [DynamicConfigValue("displayName", heading)])
    shown = {heading: heading if len(queries) > 1 else name for name, heading in columns.items()}
    for heading, unit in (units or {}).items():
        whole = [DynamicConfigValue("decimals", 0)] if unit == COUNT else []
        panel = panel.override_by_name(shown[heading], [DynamicConfigValue("unit", unit), *whole])
    for heading, url in (links or {}).items():
        link = dashboard.DashboardLink(heading).type(DashboardLinkType.LINK).url(url).target_blank(True)
        panel = panel.override_by_name(shown[heading], [DynamicConfigValue("links", [link.build()])])
    for heading, width in (widths or {}).items():
        panel = panel.override_by_name(shown[heading], [DynamicConfigValue("custom.width", width)])
    return panel


def colour_named(panel: Panel, pattern: str, steps: Sequence[tuple[float | None, str]]) -> Panel:
    """The panel, with colour steps of their own for the lines whose names match."""
    given = ThresholdsMode.ABSOLUTE.value
    value = {"mode": given, "steps": [{"value": value, "color": colour} for value, colour in steps]}
    return panel.override_by_regexp(pattern, [DynamicConfigValue("thresholds", value)])


def measure_named(panel: Panel, pattern: str, unit: str) -> Panel:
    """The panel, with a unit of their own for the lines whose names match."""
    return panel.override_by_regexp(pattern, [DynamicConfigValue("unit", unit)])


def _build_steps(steps: Sequence[tuple[float | None, str]]) -> dashboard.ThresholdsConfig:
    built = [Threshold(value=value, color=colour) for value, colour in steps or ((None, PLAIN),)]
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(built)


def _colour_by_steps(panel: Panel) -> Panel:
    return panel.color_scheme(dashboard.FieldColor().mode(FieldColorModeId.THRESHOLDS))


def _last() -> common.ReduceDataOptions:
    return common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
