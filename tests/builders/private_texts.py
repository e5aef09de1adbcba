"""Personal data that nobody has, and a redaction that must find them."""

from __future__ import annotations

from fakes.user_keys import FakeUserKeys
from ragsonde.redaction.options import RedactionOptions
from ragsonde.redaction.privacy import Privacy
from ragsonde.redaction.redactor import PatternRedaction
from ragsonde_schemas.errors import ExtractionError

EMAIL = "anna.mueller+rag@mail.example.org"
CARD = "4111 1111 1111 1111"
KEY = "sk-proj-AbCdEf0123456789AbCdEf01"
PRIVATE = (EMAIL, CARD, KEY)
"""A card number of an issuer's test set, an address of a reserved domain, a key of nobody."""


def make_redaction(**options) -> PatternRedaction:
    """A redaction by all built-in patterns, unless others are named."""
    chosen = RedactionOptions(**{"patterns": ("all",), **options})
    return PatternRedaction(chosen, read_secret=lambda: b"a secret")


def make_privacy(**changes) -> Privacy:
    """Redaction by all built-in patterns, and one key for users' ids."""
    return Privacy(**{"user_keys": FakeUserKeys(), "redaction": make_redaction(), **changes})


class FailingRedaction(PatternRedaction):
    """A redaction whose user's function fails."""

    def __init__(self) -> None:
        super().__init__(RedactionOptions(patterns=("all",)), read_secret=lambda: b"a secret")
        self.reads_texts_only = True

    def replace(self, _texts):
        raise ExtractionError("redaction: hook my_app:mask raised ValueError")
