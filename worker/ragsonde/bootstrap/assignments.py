"""Which judge looks at which traces, from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.pipeline.assignments import Assignment, list_unknown_scorers
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.settings import Settings


def build_assignments(
    settings: Settings, *, scorers: tuple[Scorer, ...], judges: Mapping[str, Judge]
) -> dict[str, Assignment]:
    """Which traces each judge looks at, and for which scorers.

    Raises:
        ConfigError: a judge names a scorer that is not configured.
    """
    problems = []
    assignments = {}
    for place, options in enumerate(settings.judges):
        known = {scorer.instance: scorer for scorer in scorers}
        names = known if options.scorers is None else options.scorers
        problems += list_unknown_scorers(options.scorers, known=known, place=place)
        chosen = tuple(scorer for scorer in scorers if scorer.instance in names)
        assignments[options.name] = Assignment(
            judge=judges[options.name], scorers=chosen, match=options.match
        )
    if problems:
        raise ConfigError(*problems)
    return assignments
