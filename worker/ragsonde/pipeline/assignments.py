"""What each judge looks at: which traces, and for which scorers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.extraction.mapping_options import MatchOptions
from ragsonde.scoring.options import describe, suggest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.trace import Trace

EVERY_TRACE = MatchOptions()


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A judge, its scorers and its traces.

    Attributes:
        scorers: all that it is asked for.
        match: which traces it judges.
    """

    judge: Judge
    scorers: tuple[Scorer, ...]
    match: MatchOptions = EVERY_TRACE

    def is_for(self, trace: Trace) -> bool:
        """True when the judge looks at this trace."""
        return covers_trace(self.match, trace)


def covers_trace(match: MatchOptions, trace: Trace) -> bool:
    """True when the trace is one of those that `match` names."""
    return match.covers(
        app=trace.app,
        environment=trace.environment,
        format_name=trace.extraction.format,
        tags=trace.tags,
    )


def list_unknown_scorers(names: Sequence[str] | None, *, known: Collection[str], place: int) -> list[str]:
    """What is wrong with the scorers that a judge names, a line for each; None names all of them.

    Args:
        names: as configured.
        known: instance names of the configured scorers.
        place: of the judge among `judges`, from 0.
    """
    return [
        f"judges[{place}].scorers: found {describe(name)}, which is no configured scorer"
        f"{suggest(name, valid=known)} (configured: {', '.join(known)})"
        for name in names or ()
        if name not in known
    ]
