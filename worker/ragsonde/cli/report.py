"""`ragsonde report`: a report for those who pay for the system."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.meant_evaluations import refuse_unknown, refuse_unknown_app
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption
from ragsonde.cli.report_file import refuse_bad_target, write_report
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import show_progress
from ragsonde.plugins.formulas import load_formulas
from ragsonde.reporting.gathering import Wish, count_steps, gather
from ragsonde.reporting.report import Span
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings
from ragsonde.storage.stream_names import list_named_streams
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.reporting.report import OwnersReport
    from ragsonde.settings import Settings

EXAMPLES = (
    ("ragsonde report", "the last 30 days of all apps, as Markdown"),
    ("ragsonde report --app shop --to shop.html", "one app, as one HTML file to send or print"),
    (
        "ragsonde report --since 2026-09-01 --until 2026-10-01 --output json",
        "a month, for scripts",
    ),
)

USUAL_SPAN = timedelta(days=30)
MOST_SPAN = timedelta(days=400)


class ReportForm(StrEnum):
    """How a report is written."""

    MD = "md"
    HTML = "html"
    JSON = "json"


_ENDINGS = {".md": ReportForm.MD, ".html": ReportForm.HTML, ".htm": ReportForm.HTML, ".json": ReportForm.JSON}


def report(
    *,
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=reading_of("--since"),
            metavar="WHEN",
            help=f"Where it begins: {MOMENT_HELP}; 30 days before its end without it.",
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(parser=reading_of("--until"), metavar="WHEN", help="Where it ends; now without it."),
    ] = None,
    app: Annotated[str | None, typer.Option(help="Only this app; `default` is the unknown one.")] = None,
    environment: Annotated[str | None, typer.Option(help="Only this environment.")] = None,
    output: Annotated[
        ReportForm | None,
        typer.Option("--output", "-o", help="Its form; without it by the ending of --to, else md."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write it there, in place of what is there.")
    ] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Write a report for those who pay: scores and how they moved, falls, costs, coverage, releases.

    It is read from Postgres alone. Means are compared with the span of the same length before; only scores by
    the same judge, model and version are. An unknown price is called unknown. The HTML form is one file that
    loads nothing from anywhere.

    Traces are linked where `links.page`, or else `links.trace`, is configured.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    now = datetime.now(UTC)
    span = choose_span(since, until, now=now)
    form = output or (_ENDINGS.get(to.suffix.lower(), ReportForm.MD) if to is not None else ReportForm.MD)
    refuse_bad_target(to)
    stored_app = None if app is None else read_app(app)
    wish = build_wish(settings, span=span, app=stored_app, environment=environment)
    with open_database(settings, command="report") as engine:
        made = _gather(engine, wish, now=now)
        if made.is_empty:
            refuse_unknown_app(engine, stored_app)
            _refuse_unknown_environment(engine, environment)
    write_report(made, form=form.value, to=to)


def choose_span(since: datetime | None, until: datetime | None, *, now: datetime) -> Span:
    """The span that is meant.

    Raises:
        InputError: it ends before it begins, begins in the future, or is longer than 400 days.
    """
    end = now if until is None else until
    begin = end - USUAL_SPAN if since is None else since
    if begin > now:
        raise InputError(f"--since {begin:%Y-%m-%d %H:%M}: expected a time that has come")
    if end <= begin:
        raise InputError(f"--until {end:%Y-%m-%d %H:%M}: expected a time after {begin:%Y-%m-%d %H:%M}")
    end = min(end, now)
    if end - begin > MOST_SPAN:
        raise InputError(
            f"--since {begin:%Y-%m-%d}: found {(end - begin).days} days, expected at most {MOST_SPAN.days}"
        )
    return Span(since=begin, until=end)


def build_wish(settings: Settings, *, span: Span, app: str | None, environment: str | None) -> Wish:
    """What the settings and options ask for.

    Raises:
        ConfigError: the scorers of the settings cannot be built.
    """
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    free = next((one.name for one in settings.judges if one.kind == "lexical"), None)
    return Wish(
        app=app,
        environment=environment,
        span=span,
        scorers={one.instance: one for one in scorers},
        comparable=[one.instance for one in scorers if one.direction is Direction.HIGHER],
        free_judge=free,
        page_days=settings.regression.page_days,
        page_url=settings.links.page,
        trace_url=settings.links.trace,
        kept_days=settings.retention_days.score,
    )


def _gather(engine: Engine, wish: Wish, *, now: datetime) -> OwnersReport:
    total = count_steps(wish.span)
    with show_progress("reading", total=total) as tell:
        done = 0

        def step() -> None:
            nonlocal done
            done += 1
            tell(done)

        return gather(engine, wish, now=now, step=step)


def _refuse_unknown_environment(engine: Engine, environment: str | None) -> None:
    known = {one.environment for one in list_named_streams(engine)}
    if environment is not None and known:
        refuse_unknown("--environment", environment, known=known, what="no scores of it were ever counted")
