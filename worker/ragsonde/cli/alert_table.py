"""Alerts as a table, as objects for scripts, and pages against their budget."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.cli.terminal import make_console, make_table, show
from ragsonde.storage.alert_steering import PageCounts, count_pages
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.stream_labels import label_stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.regression.options import RegressionOptions
    from ragsonde_schemas.score_stream import ScoreStream
    from ragsonde_schemas.watched_fall import Fall

YEAR_DAYS = 365
_MOMENTS = ("opened_at", "paged_at", "since", "closed_at", "told_at", "acked_at", "accepted_at", "false_at")


class Budget(NamedTuple):
    """Pages of the last 365 days, and how many false ones chance alone would make at most on average.

    Attributes:
        place: whose pages are counted, in words; empty for all.
    """

    counts: PageCounts
    false_pages_a_year: float
    place: str = ""


def count_budget(
    engine: Engine,
    options: RegressionOptions,
    *,
    now: datetime,
    app: str | None = None,
    environment: str | None = None,
) -> Budget:
    """How many pages there were in the last 365 days, of one app and environment or all; what is configured.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    counts = count_pages(engine, since=now - timedelta(days=YEAR_DAYS), app=app, environment=environment)
    words = (None if app is None else show_app(app), environment)
    place = ", ".join(word for word in words if word is not None)
    return Budget(counts, YEAR_DAYS / options.page_days, place)


def describe_budget(budget: Budget) -> dict[str, Any]:
    """It for scripts."""
    return {
        "last_365_days": {
            "pages": budget.counts.pages,
            "called_false": budget.counts.called_false,
            "false_pages_budget": round(budget.false_pages_a_year, 4),
        }
    }


def tell_budget(budget: Budget) -> str:
    """It in a sentence."""
    pages, called_false = budget.counts
    whose = f" of {budget.place}" if budget.place else ""
    return (
        f"{pages} page{'' if pages == 1 else 's'}{whose} in the last {YEAR_DAYS} days, {called_false} "
        f"called false; expected of chance alone: {budget.false_pages_a_year:.3g} a year at most, all "
        "streams together"
    )


def describe_alert(alert: Fall) -> dict[str, Any]:
    """An alert for scripts, with all that its explanation holds."""
    moments = {name: getattr(alert, name) for name in _MOMENTS}
    return {
        "alert": alert.number,
        "state": tell_state(alert),
        "is_open": alert.is_open,
        "is_page": alert.is_page,
        **label_stream(alert.stream),
        **{name: None if moment is None else moment.isoformat() for name, moment in moments.items()},
        "reason": alert.reason,
        "explanation": alert.explanation,
    }


def tell_state(alert: Fall) -> str:
    """In one word how it stands."""
    if alert.false_at is not None:
        return "false"
    if alert.accepted_at is not None:
        return "accepted"
    if alert.closed_at is not None:
        return "recovered" if alert.has_recovered else "put away"
    return ("page" if alert.is_page else "warning") + (", known" if alert.acked_at is not None else "")


def name_stream(stream: ScoreStream) -> str:
    """A stream in words."""
    named = label_stream(stream)
    place = ", ".join(name for name in (named["app"], named["environment"]) if name)
    return f"{place}: {named['scorer']} by {named['judge']}"


def print_alerts(found: Sequence[Fall], budget: Budget) -> None:
    """Alerts for people, and below them pages against their budget."""
    console = make_console()
    if found:
        right = ("alert", "drop when told", "mean when told")
        table = make_table(
            *("alert", "state", "what", "since", "drop when told", "mean when told", "told", "closed"),
            right=right,
            gap=2,
        )
        for one in found:
            table.add_row(*_list_cells(one))
        console.print(table)
    else:
        console.print(show("no alert"))
    console.print(show(tell_budget(budget), "dim"))


def _list_cells(one: Fall) -> tuple[Any, ...]:
    return (
        str(one.number),
        show(tell_state(one), "bold red" if one.is_open and one.is_page else ""),
        show(name_stream(one.stream)),
        f"{one.since:%Y-%m-%d %H:%M}",
        _tell_number(one.explanation.get("drop")),
        _tell_number(one.explanation.get("mean")),
        f"{one.opened_at:%Y-%m-%d %H:%M}",
        "" if one.closed_at is None else f"{one.closed_at:%Y-%m-%d %H:%M}",
    )


def _tell_number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, int | float) else ""
