"""Which stored evaluations a command line means, and why none of them is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.scoring.options import suggest
from ragsonde.storage.assessments import EvaluationFilter
from ragsonde.storage.evaluated_names import read_names
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
    names = read_names(engine)
    judges = {*names.judges, *(options.name for options in settings.judges)}
    if chosen.judge is not None:
        refuse_unknown("--judge", chosen.judge, known=judges, what="no such judge")
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


def refuse_unknown(option: str, name: str, *, known: Collection[str], what: str) -> None:
    """Nothing where the name is known.

    Raises:
        InputError: it is not; with the nearest that is.
    """
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise InputError(f"{option} {name}: {what}{suggest(name, valid=known)} (known: {listed})")
