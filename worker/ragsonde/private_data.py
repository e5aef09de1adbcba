"""Builds, from settings, what keeps people's data out of what rests or leaves."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ragsonde.exposition.series import REDACTIONS
from ragsonde.redaction.placeholders import HOOK
from ragsonde.redaction.privacy import Privacy
from ragsonde.settings.secrets import read_secret
from ragsonde.storage.user_keys import PostgresUserKeys
from ragsonde.text_redaction import build_redaction
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.user_key import LEAST_SECRET_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock
    from ragsonde.settings import Settings

logger = logging.getLogger(__name__)


def build_privacy(settings: Settings, *, engine: Engine, clock: Clock) -> Privacy:
    """What a worker keeps to; nothing connects before it is used.

    Raises:
        ConfigError: the file of keys cannot be read, or the hook cannot be imported.
        SetupError: importing the hook takes too long.
    """
    keys = PostgresUserKeys(engine, clock=clock, given=read_given_keys(settings))
    return Privacy(
        user_keys=keys,
        redaction=build_redaction(settings, read_secret=keys.read_secret),
        user_id_names=settings.user_id_names,
        keeps_unreadable=settings.redaction.keep_unreadable,
    )


def build_redaction_counter(settings: Settings, series: Series) -> Callable[[dict[str, int]], None]:
    """What counts replaced places in the series, whose kinds are there at 0 from the start."""
    options = settings.redaction
    for kind in (*options.own, *options.patterns, *((HOOK,) if options.hook else ())):
        series.add(REDACTIONS, 0.0, kind=kind)

    def count(counts: dict[str, int]) -> None:
        try:
            for kind, number in counts.items():
                series.add(REDACTIONS, number, kind=kind)
        except Exception:
            logger.exception("redactions_not_counted")

    return count


def read_given_keys(settings: Settings) -> tuple[bytes, ...]:
    """The secrets of the settings for users' ids, the newest first; none where they are kept in Postgres.

    Raises:
        ConfigError: the file cannot be read, or a line of it is too short.
    """
    if settings.user_key is not None:
        return (settings.user_key.get_secret_value().strip().encode(),)
    if settings.user_key_file is None:
        return ()
    text = read_secret(settings.user_key_file, key="user_key_file").get_secret_value()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(len(line) < LEAST_SECRET_CHARACTERS for line in lines):
        raise ConfigError(
            f"user_key_file: {settings.user_key_file} has a line of fewer than {LEAST_SECRET_CHARACTERS} "
            "characters; expected one key a line, the newest first"
        )
    return tuple(line.encode() for line in lines)
