"""The falls of scores that were told in a span, and pages against their budget."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.page.fall_life import say_standing
from ragsonde.page.links import link_fall
from ragsonde.page.wording import say_drop, say_moment
from ragsonde.regression.fall_wording import is_number, say_fall
from ragsonde.reporting.report import FallLine, PageBudget
from ragsonde.reporting.scorer_lines import find_scale
from ragsonde.storage.alert_steering import count_pages
from ragsonde.storage.told_alerts import MOST_ALERTS, list_alerts
from ragsonde_schemas.stream_labels import label_stream

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.reporting.report import Span
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.watched_fall import Fall

YEAR = timedelta(days=365)


def list_falls(
    engine: Engine,
    span: Span,
    *,
    app: str | None,
    environment: str | None,
    scorers: Mapping[str, Scorer],
    page_url: str | None,
) -> tuple[tuple[FallLine, ...], bool]:
    """The falls that were open at any time of the span, and whether there are more than can be listed.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    found = list_alerts(engine, app=app, environment=environment, since=span.since, until=span.until)
    lines = tuple(
        build_fall(one, until=span.until, scale=find_scale(scorers, one.stream.scorer), page_url=page_url)
        for one in sorted(found, key=lambda one: (one.opened_at, one.number))
    )
    return lines, len(found) == MOST_ALERTS


def build_fall(fall: Fall, *, until: datetime, scale: float, page_url: str | None) -> FallLine:
    """One of them.

    Args:
        fall: as it stands now.
        until: where the time ends for which one is open that has no end before.
        scale: of its scorer.
        page_url: where people reach the monitor's page; None: it is not configured.
    """
    named = label_stream(fall.stream)
    ended = until if fall.closed_at is None else min(until, fall.closed_at)
    told = fall.explanation
    drops = {key: told.get(key) for key in ("drop", "drop_lower", "drop_upper")}
    words = say_fall(
        named["scorer"], told, since=say_moment(fall.since), write=lambda drop: say_drop(drop * scale)
    )
    return FallLine(
        number=fall.number,
        app=named["app"],
        environment=named["environment"],
        scorer=named["scorer"],
        judge=named["judge"],
        words=words,
        **{key: value if is_number(value) else None for key, value in drops.items()},
        standing=say_standing(fall)[0],
        is_page=fall.is_page,
        is_false=fall.false_at is not None,
        is_accepted=fall.accepted_at is not None,
        since=fall.since,
        opened_at=fall.opened_at,
        closed_at=fall.closed_at,
        open_seconds=max(0.0, (ended - fall.opened_at).total_seconds()),
        reason=fall.reason or "",
        link="" if page_url is None else page_url.rstrip("/") + link_fall(fall.number),
    )


def count_budget(
    engine: Engine, *, app: str | None, environment: str | None, now: datetime, page_days: float
) -> PageBudget:
    """Pages of the last 365 days, and the budget.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    counts = count_pages(engine, since=now - YEAR, app=app, environment=environment)
    return PageBudget(pages=counts.pages, called_false=counts.called_false, budget=YEAR.days / page_days)
