"""How the fields of a record are found: formats, mappings, functions; the same offline as in the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ragsonde.extraction.mapping import Mappings
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.extraction.table import build_trace
from ragsonde.pipeline.reading import find_all
from ragsonde.plugins.formats import load_formats
from ragsonde.redaction.findings import redact_findings
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde.settings.origin import join_path
from ragsonde.settings.problems import list_problems
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from ragsonde.decoding.formats import Formats
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.extraction.findings import Findings
    from ragsonde.ports import Redaction, Resolver
    from ragsonde.settings.origin import KeyPath
    from ragsonde_schemas.decoded import Receipt, Record
    from ragsonde_schemas.trace import Trace

_ALL_TIMES_DAYS = 365_000
"""Nothing is stored here, so no time is too old to be believed."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How records are read.

    Attributes:
        formats: in which messages may come.
        mappings: the user's paths to fields.
        resolver: runs the user's functions.
        redaction: what is taken out of texts; None: nothing.
    """

    formats: Formats
    mappings: Mappings
    resolver: Resolver
    redaction: Redaction | None = None

    def read(self, record: Record, *, receipt: Receipt) -> tuple[Trace, ...]:
        """The traces in a record; none where it is a call of our own judge.

        Raises:
            DecodeError: OVER_LIMIT where the contexts hold more sentences than can be judged.
        """
        return tuple(
            build_trace(self._redact(found), receipt=receipt, retention_days=_ALL_TIMES_DAYS)
            for found in find_all(record, mappings=self.mappings, resolver=self.resolver)
            if not found.is_judge_call
        )

    def _redact(self, found: Findings) -> Findings:
        return found if self.redaction is None else redact_findings(found, self.redaction).value


def build_rules(
    extraction: Sequence[ExtractionOptions] = (),
    *,
    limits: DecodingLimits | None = None,
    redaction: Redaction | None = None,
) -> Rules:
    """The rules of the setting `extraction`, with the formats of installed packages.

    Args:
        extraction: the setting.
        limits: of what a function may give; None: of a message, by the settings' defaults.
        redaction: of the settings.

    Raises:
        ConfigError: a path does not compile, a function cannot be imported, two formats share a name.
    """
    return Rules(
        formats=load_formats(),
        mappings=Mappings(extraction),
        resolver=UserCodeResolver(extraction, limits=limits),
        redaction=redaction,
    )


@cache
def own_rules() -> Rules:
    """The rules without any configuration."""
    return build_rules()


def choose_rules(extraction: object) -> Rules:
    """The rules of mappings given as plain values, as under `extraction:` of the settings.

    Raises:
        ConfigError: one of them is wrong; names its place.
    """
    if not extraction:
        return own_rules()
    if isinstance(extraction, str | bytes | Mapping) or not isinstance(extraction, Sequence):
        raise ConfigError(f"extraction: found a {type(extraction).__name__}, expected a list of mappings")
    options: list[ExtractionOptions] = []
    problems: list[str] = []
    for index, given in enumerate(extraction):
        if not isinstance(given, Mapping):
            problems.append(f"extraction[{index}]: found a {type(given).__name__}, expected a mapping")
            continue
        try:
            options.append(ExtractionOptions.model_validate(dict(given)))
        except ValidationError as error:
            problems += list_problems(error, model=ExtractionOptions, name_place=partial(_name_place, index))
    if problems:
        raise ConfigError(*problems)
    return build_rules(options)


def _name_place(index: int, path: KeyPath) -> str:
    return join_path(("extraction", index, *path))
