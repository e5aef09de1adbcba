"""Sums of scores by place and stream, from rows of scores and from what was counted of them."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.newer_words import read_word
from ragsonde_schemas.stream_labels import judge_label, scorer_label
from ragsonde_schemas.watched import BINS, Place, ScorerSummary, ScoreStream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


STREAM_NAMES = ("judge", "fingerprint", "epoch", "scorer", "version")


@dataclass
class ScoreSum:
    """Counts of one stream, over several days."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    below: int = 0
    judged: int = 0
    unscored: dict[Cause, int] = field(default_factory=lambda: defaultdict(int))
    bins: list[int] = field(default_factory=lambda: [0] * BINS)

    def add(self, row: Mapping[str, Any]) -> None:
        """Takes in one row."""
        if row["cause"] is not None:
            self.unscored[read_word(Cause, row["cause"])] += row["n"]
            return
        self.merge(row["n"], mean=row["mean"], variance=row["variance"])
        self.bins[int(row["bin"])] += row["n"]
        self.below += row["below"]
        self.judged += row["judged"]

    def merge(self, number: int, *, mean: float, variance: float) -> None:
        """Takes in the scores of so many traces.

        T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and a pairwise algorithm for computing
        sample variances, COMPSTAT 1982.
        """
        distance, total = mean - self.mean, self.n + number
        self.squares += variance * number + distance**2 * self.n * number / total
        self.mean += distance * number / total
        self.n = total


class ScoreSums:
    """The sums of all places and streams."""

    def __init__(self) -> None:
        self._sums: dict[Place, dict[tuple[Any, ...], ScoreSum]] = defaultdict(lambda: defaultdict(ScoreSum))

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes in the rows of one statement."""
        for row in rows:
            self._find(row).add(row)

    def add_counted(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes in the sums of blocks."""
        for row in rows:
            self._find(row).merge(row["n"], mean=row["mean"], variance=row["variance"])

    def add_bins(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Takes in the histograms of blocks whose sums are taken in."""
        for row in rows:
            self._find(row).bins[row["bin"]] += row["n"]

    def has_mixed_streams(self) -> bool:
        """Whether a scorer under a judge has several streams in a place: a trace may be in each of them."""
        return any(
            len({(stream[0], stream[3]) for stream in streams}) < len(streams)
            for streams in self._sums.values()
        )

    def list_rows(self) -> list[dict[str, Any]]:
        """A row for each stream with a score: app, environment, what tells streams apart, n, mean."""
        return [
            {
                **place.model_dump(),
                **dict(zip(STREAM_NAMES, stream, strict=True)),
                "n": one.n,
                "mean": one.mean,
            }
            for place, streams in self._sums.items()
            for stream, one in streams.items()
            if one.n
        ]

    def _find(self, row: Mapping[str, Any]) -> ScoreSum:
        return self._sums[Place(app=row["app"], environment=row["environment"])][read_stream(row)]

    def summarise(self, *, share: float) -> dict[Place, tuple[ScorerSummary, ...]]:
        """What they come to."""
        return {place: _summarise(streams, share=share) for place, streams in self._sums.items()}


def read_stream(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The columns of `STREAM_COLUMNS`, as what tells a stream from others."""
    return tuple(row[name] for name in STREAM_NAMES)


def _summarise(streams: Mapping[tuple[Any, ...], ScoreSum], *, share: float) -> tuple[ScorerSummary, ...]:
    return tuple(
        _name(stream, streams[stream], models=_count_models(stream, streams), share=share)
        for stream in sorted(streams)
    )


def _count_models(stream: tuple[Any, ...], streams: Iterable[tuple[Any, ...]]) -> int:
    """How many models answered for its judge and scorer: from the second on, labels tell them apart."""
    judge, _, _, scorer, _ = stream
    return len({one[1:3] for one in streams if (one[0], one[3]) == (judge, scorer)})


def _name(stream: tuple[Any, ...], found: ScoreSum, *, models: int, share: float) -> ScorerSummary:
    judge, fingerprint, epoch, scorer, version = stream
    return ScorerSummary(
        stream=ScoreStream(judge=judge, fingerprint=fingerprint, epoch=epoch, scorer=scorer, version=version),
        judge=judge_label(judge, fingerprint, epoch) if models > 1 else judge,
        scorer=scorer_label(scorer, version),
        n=found.n,
        mean=found.mean if found.n else None,
        deviation=math.sqrt(found.squares / (found.n - 1)) if found.n > 1 else None,
        below=found.below if found.judged else None,
        unscored=dict(found.unscored),
        bins=tuple(found.bins),
        share=share,
    )
