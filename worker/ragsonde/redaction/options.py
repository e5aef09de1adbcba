"""The setting `redaction`: what is taken out of texts before they are stored, parked, judged or logged."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from ragsonde.extraction.mapping_options import FunctionOptions
from ragsonde.redaction.own_patterns import compile_own
from ragsonde.redaction.table import KINDS
from ragsonde_schemas.value import Value

ALL = "all"
MOST_OWN = 20

_OWN_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")


def _list_kinds(value: object) -> object:
    if isinstance(value, str):
        value = [word.strip() for word in value.split(",") if word.strip()]
    return tuple(KINDS) if isinstance(value, list | tuple) and list(value) == [ALL] else value


class RedactionOptions(Value):
    """What is redacted; nothing by default.

    Attributes:
        own: regular expressions by the name that their placeholder shows.
    """

    patterns: Annotated[tuple[str, ...], BeforeValidator(_list_kinds)] = Field(
        default=(), description=f"kinds that are replaced: {', '.join(KINDS)}, or all"
    )
    own: dict[str, str] = Field(
        default_factory=dict, description="name -> regular expression whose repeats all have an upper bound"
    )
    hook: FunctionOptions | None = Field(
        default=None, description="a function of yours, from a text to the text that may be kept"
    )
    pseudonyms: bool = Field(
        default=False, description="the same text gets the same placeholder: [email:3fa2c1]"
    )
    keep_unreadable: bool = Field(
        default=False, description="park bodies that cannot be read too, as they came"
    )

    @property
    def is_on(self) -> bool:
        """True when anything is replaced."""
        return bool(self.patterns or self.own or self.hook)

    @model_validator(mode="after")
    def _check(self) -> Self:
        unknown = [name for name in self.patterns if name not in KINDS]
        if unknown:
            raise ValueError(f"patterns: found {unknown[0]!r}, expected all, or some of {', '.join(KINDS)}")
        if len(self.own) > MOST_OWN:
            raise ValueError(f"own: found {len(self.own)} expressions, expected at most {MOST_OWN}")
        for name, pattern in self.own.items():
            if _OWN_NAME.fullmatch(name) is None or name in KINDS:
                raise ValueError(
                    f"own: found the name {name!r}, expected lower-case letters, digits and _, and none of "
                    f"{', '.join(KINDS)}"
                )
            try:
                compile_own(pattern)
            except ValueError as error:
                raise ValueError(f"own.{name}: {error}") from error
        return self
