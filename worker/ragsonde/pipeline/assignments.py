"""What each judge looks at: which traces, and for which scorers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.extraction.mapping_options import MatchOptions

if TYPE_CHECKING:
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
        return self.match.covers(
            app=trace.app,
            environment=trace.environment,
            format_name=trace.extraction.format,
            tags=trace.tags,
        )
