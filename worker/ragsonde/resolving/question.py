"""One question to a function of the user's: what it is called with, and for which field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde_schemas.decoded_trace import DecodedTrace


REDACTION = "redaction"
"""The field for which texts are given to a function that takes out of them what may not be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a function is called with.

    Attributes:
        name: of the function, as in the settings.
        argument: a trace for an extractor, ids for a resolver, texts for a redaction's hook.
        timeout_seconds: how long its answer is waited for.
        field: what an extractor is asked for; a resolver is asked for the texts of contexts.
    """

    name: str
    argument: DecodedTrace | tuple[str, ...]
    timeout_seconds: float
    field: str = "contexts"

    @property
    def label(self) -> str:
        """Names field and function in messages: `contexts: extractor my_app.rag:contexts`."""
        if self.field == REDACTION:
            return f"{self.field}: hook {self.name}"
        kind = "resolver" if isinstance(self.argument, tuple) else "extractor"
        return f"{self.field}: {kind} {self.name}"
