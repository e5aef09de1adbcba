"""Builds, from settings, what is taken out of texts; nothing of it needs a database."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from ragsonde.redaction.redactor import PatternRedaction
from ragsonde.resolving.redaction_hook import HookedRedaction
from ragsonde_schemas.user_key import SECRET_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.ports import Redaction
    from ragsonde.settings import Settings


def build_redaction(
    settings: Settings, *, read_secret: Callable[[], bytes] | None = None
) -> Redaction | None:
    """The redaction of the settings; None where nothing is redacted.

    Args:
        settings: as read.
        read_secret: by which the same text gets the same pseudonym; None: such pseudonyms as hold for this
            process alone.

    Raises:
        ConfigError, SetupError: as `build_privacy`.
    """
    options = settings.redaction
    if not options.is_on:
        return None
    own_secret = secrets.token_bytes(SECRET_BYTES)
    patterns = PatternRedaction(options, read_secret=read_secret or (lambda: own_secret))
    if options.hook is None:
        return patterns
    return HookedRedaction(patterns, options.hook, limits=settings.message_limits)


def build_cover(settings: Settings) -> Callable[[str], str] | None:
    """What redacts a line of a log; None where nothing is redacted."""
    if not settings.redaction.is_on:
        return None
    own_secret = secrets.token_bytes(SECRET_BYTES)
    return PatternRedaction(settings.redaction, read_secret=lambda: own_secret).cover
