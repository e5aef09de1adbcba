"""Which stored evaluations a command line means, and why none of them is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.scoring.options import suggest
from ragsonde.storage.assessments import EvaluationFilter
from ragsonde.storage.evaluated_names import read_names
from ragsonde.storage.stream_names import list_named_streams
from ragsonde_schemas.app_name import read_app, show_app
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.settings import Settings


def read_filter(
    *, app: str | None, judge: str | None, since: datetime | None, until: datetime | None
) -> EvaluationFilter:
    """What the options mean; the app `default` is the unknown one."""
    return EvaluationFilter(
        app=None if app is None else read_app(app),
        judge=judge,
        since=None if since is None else since.date(),
        until=None if until is None else until.date(),
    )


def explain_nothing(engine: Engine, chosen: EvaluationFilter, *, settings: Settings) -> str:
    """What to say where no evaluation is as meant.

    Raises:
        InputError: nobody knows the judge or the app: neither the settings nor what is stored.
        DatabaseLostError: Postgres is away.
    """
    refuse_unknown_judge(engine, chosen.judge, settings=settings)
    names = read_names(engine)
    if chosen.app is not None and names.apps:
        apps = {show_app(app) for app in names.apps}
        refuse_unknown("--app", show_app(chosen.app), known=apps, what="nothing of this app is evaluated")
    limits = {
        "app": None if chosen.app is None else show_app(chosen.app),
        "judge": chosen.judge,
        "since": chosen.since,
        "until": chosen.until,
    }
    meant = ", ".join(f"{name} {value}" for name, value in limits.items() if value is not None)
    return f"nothing matches: no finished evaluation with what is needed{f' for {meant}' if meant else ''}"


def refuse_unknown_app(engine: Engine, app: str | None) -> None:
    """Nothing where the app is known, where none is chosen and where nothing is stored yet.

    For a command that found nothing of it: looking for names takes longer than most answers.

    Args:
        engine: of this process.
        app: as it is stored; '' is the unknown one, None all.

    Raises:
        InputError: no evaluation of the newest days is of this app, but some are of others.
        DatabaseLostError: Postgres is away.
    """
    apps = {show_app(name) for name in read_names(engine).apps} if app else set()
    if app and apps:
        refuse_unknown("--app", app, known=apps, what="no such app")


def refuse_unknown_place(engine: Engine, *, app: str, environment: str | None) -> None:
    """Nothing where scores of the app, in the environment, were ever counted, and where none ever were.

    Args:
        engine: of this process.
        app: as it is stored; '' is the unknown one.
        environment: of it; None: any.

    Raises:
        InputError: one of them is not known; with the nearest that is.
        DatabaseLostError: Postgres is away.
    """
    streams = list_named_streams(engine)
    apps = {show_app(one.app) for one in streams}
    if show_app(app) not in apps:
        apps |= {show_app(name) for name in read_names(engine).apps}
        if apps:
            refuse_unknown("--app", show_app(app), known=apps, what="no such app")
    elif environment is not None:
        known = {one.environment for one in streams if one.app == app}
        refuse_unknown("--environment", environment, known=known, what="no stream of this app has it")


def refuse_unknown_judge(engine: Engine, judge: str | None, *, settings: Settings) -> None:
    """The same for a judge, which the settings may know too.

    Raises:
        InputError: neither they nor an evaluation of the newest days has it.
        DatabaseLostError: Postgres is away.
    """
    if judge is not None:
        known = {*read_names(engine).judges, *(options.name for options in settings.judges)}
        refuse_unknown("--judge", judge, known=known, what="no such judge")


def refuse_unknown(option: str, name: str, *, known: Collection[str], what: str) -> None:
    """Nothing where the name is known.

    Raises:
        InputError: it is not; with the nearest that is.
    """
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise InputError(f"{option} {name}: {what}{suggest(name, valid=known)} (known: {listed})")
