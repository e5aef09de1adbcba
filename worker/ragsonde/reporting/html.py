"""A report as one HTML file that asks nobody for anything: style and pictures are in it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from ragsonde.page.charts import BinLink, draw_histogram
from ragsonde.page.rendering import drop_directions, show_foreign
from ragsonde.page.wording import say_score
from ragsonde.reporting import figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from ragsonde.reporting.report import OwnersReport

_SAID = (
    figures.say_agreement,
    figures.say_cost,
    figures.say_drift,
    figures.say_judged,
    figures.say_mean,
    figures.say_move,
    figures.say_open,
    figures.say_pages,
    figures.say_reasons,
    figures.say_release,
    figures.say_scored,
    figures.say_span,
    figures.say_time,
    figures.say_whose,
    figures.judge_tone,
    figures.list_notes,
)


def write_html(report: OwnersReport) -> str:
    """The whole report; everything that is put into it is escaped."""
    return _load().get_template("report.html").render(report=report, no_trace=figures.NO_TRACE)


def _draw_bins(bins: Sequence[int], name: str) -> Markup:
    return draw_histogram([BinLink(n) for n in bins], name=drop_directions(name))


@cache
def _load() -> Environment:
    """The templates of the report, with the page's style."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("ragsonde.reporting"), PackageLoader("ragsonde.page")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "foreign": show_foreign,
        "plain": drop_directions,
        "score": say_score,
        "draw_bins": _draw_bins,
        **{one.__name__: one for one in _SAID},
    }
    return environment
