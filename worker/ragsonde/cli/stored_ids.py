"""Ids as people know them, and as they are stored where redaction takes them for somebody's address."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragsonde.private_data import read_given_keys
from ragsonde.redaction.redactor import NOT_IN_NAMES, PatternRedaction
from ragsonde.storage.user_keys import read_key_ring
from ragsonde_schemas.user_key import make_user_key

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.redaction.matches import Match
    from ragsonde.redaction.options import RedactionOptions
    from ragsonde.settings import Settings


def find_stored_forms(engine: Engine, name: str, *, settings: Settings) -> tuple[str, ...]:
    """The id of a trace or session as workers of these settings store it, by every key that is known.

    None where it is stored as it is.

    Raises:
        ConfigError: the file of keys cannot be read.
        DatabaseLostError: Postgres is away.
    """
    options = settings.redaction
    # who may not read the keys may still ask for what is no address
    if not options.is_on or not _find_places(options, name):
        return ()
    given = tuple(make_user_key(secret) for secret in read_given_keys(settings))
    ring = read_key_ring(engine, now=datetime.now(UTC), given=given)
    forms = []
    for key in (ring.active, *ring.older):
        redaction = PatternRedaction(options, read_secret=lambda key=key: key.secret)  # type: ignore[misc]
        forms += [form for form in redaction.replace_names([name]).value if form != name]
    return tuple(dict.fromkeys(forms))


def _find_places(options: RedactionOptions, name: str) -> list[Match]:
    return PatternRedaction(options, read_secret=lambda: b"").find_places(name, without=NOT_IN_NAMES)
