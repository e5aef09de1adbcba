"""Histories of scores through the detector: of each stream what it told, and why it told nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragsonde.cli.detected_events import describe_event
from ragsonde.cli.score_file import read_scores
from ragsonde.cli.terminal import count_traces, track, write_note
from ragsonde.regression.baseline import LEAST_PINNED, BaselineKind
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.fall_bounds import SMALLEST_DROP
from ragsonde.regression.replay import replay
from ragsonde.regression.threshold import count_active_by_day

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ragsonde.regression.blocks import BlockCounts
    from ragsonde.regression.replay import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionWish:
    """What histories are held to.

    Attributes:
        baseline_days: how many first days of a stream the rest is compared with.
        smallest_drop: the smallest one that matters; None: the usual one, or that of the settings.
        floor: for streams with too few traces; None: none, or those of the settings.
    """

    baseline_days: int
    smallest_drop: float | None = None
    floor: float | None = None


@dataclass(slots=True)
class Detection:
    """What was told of so many streams; each event as `describe_event` gives it."""

    streams: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        name: str,
        counts: BlockCounts,
        found: Replay,
        *,
        baseline_days: int,
        first_seen: Mapping[str, int] | None = None,
    ) -> None:
        """One more stream; that it is not watched, or in part only, is said on standard error.

        Args:
            name: of the stream.
            counts: its history.
            found: what became of it.
            baseline_days: that it was held to.
            first_seen: of each release the block of its first trace, where that is known.
        """
        self.streams += 1
        _tell_what_is_not_seen(name, counts, found, baseline_days=baseline_days)
        self.events += [describe_event(name, event, first_seen=first_seen or {}) for event in found.events]

    def list_events(self) -> list[dict[str, Any]]:
        """In the order of time."""
        return sorted(self.events, key=lambda event: (event["at"], event["stream"]))


def detect_in_file(file: Path, wish: DetectionWish) -> Detection:
    """What would have been told of the streams of a file.

    Raises:
        InputError: the file cannot be read, or a line of it.
    """
    scores = read_scores(file)
    counted = [(stream, stream.count()) for stream in scores.streams]
    active = count_active_by_day(set((counts.block // BLOCKS_PER_DAY).tolist()) for _, counts in counted)
    detection = Detection()
    for stream, counts in track(counted, total=len(counted), description="streams"):
        found = replay(
            counts,
            baseline_days=wish.baseline_days,
            smallest_drop=SMALLEST_DROP if wish.smallest_drop is None else wish.smallest_drop,
            floor=wish.floor,
            find_active=active.__getitem__,
        )
        detection.add(
            stream.name, counts, found, baseline_days=wish.baseline_days, first_seen=stream.first_seen
        )
    if scores.unscored:
        write_note(f"{file}: {count_traces(scores.unscored)} without a value, left out")
    return detection


def _tell_what_is_not_seen(name: str, counts: BlockCounts, found: Replay, *, baseline_days: int) -> None:
    end = int(counts.block[0]) + baseline_days * BLOCKS_PER_DAY
    traces = counts.between(int(counts.block[0]), end).trace_count
    if found.baseline is None:
        write_note(
            f"{name}: not watched: found {count_traces(traces)} in its first {baseline_days} days, expected "
            f"{LEAST_PINNED}; --floor watches it by a mean of your own"
        )
    elif found.baseline.smallest_visible_drop is None:
        write_note(f"{name}: not watched: its scores are so low that no fall could be told")
    elif found.baseline.kind is BaselineKind.PROVISIONAL:
        write_note(
            f"{name}: its {baseline_days} baseline days are not over: warnings only, nothing would page yet"
        )
