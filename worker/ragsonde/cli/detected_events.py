"""What a detector told: as objects for scripts, as a table for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragsonde.cli.terminal import make_console, make_table, show
from ragsonde.regression.block_lengths import BLOCK_SECONDS, BLOCKS_PER_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.regression.replay import Event

NUMBERS = ("drop", "by mix", "by chance once in", "traces")
_LONGEST_LINE = 44
"""Of a stream's name: a table of 160 columns has room for it beside all that is told."""


def describe_event(stream: str, event: Event, *, first_seen: Mapping[str, int]) -> dict[str, Any]:
    """One event for scripts; `releases`, where the file names any, began in the day before or just after.

    Args:
        stream: its name.
        event: of it.
        first_seen: of each release of the stream, the block of its first trace.
    """
    found = event.explanation
    described: dict[str, Any] = {
        "stream": stream,
        "kind": str(event.kind),
        "at": _tell_block(event.block + 1),
        "since": _tell_block(found.since),
        "drop": round(found.drop, 4),
        "drop_lower": round(found.drop_lower, 4),
        "drop_upper": round(found.drop_upper, 4),
        "evidence_days": round(event.evidence_days, 1),
        "n": found.traces,
        "mix_shift": round(found.mix_shift, 4),
        "worst_strata": [
            {"stratum": one.name, "drop": round(one.drop, 4), "n": one.traces} for one in found.worst_strata
        ],
    }
    if first_seen:
        described["releases"] = [
            release
            for release, block in sorted(first_seen.items(), key=lambda item: item[1])
            if found.since - BLOCKS_PER_DAY <= block <= found.since + BLOCKS_PER_DAY // 24
        ]
    return described


def print_events(events: Sequence[Mapping[str, Any]]) -> None:
    """A line an event, for people."""
    table = make_table(
        "at (UTC)",
        "stream",
        "kind",
        "since",
        *NUMBERS,
        "worst strata",
        right=NUMBERS,
        gap=2,
    )
    for event in events:
        table.add_row(
            event["at"][:16].replace("T", " "),
            show(_fold(event["stream"])),
            event["kind"],
            event["since"][:16].replace("T", " "),
            f"{event['drop']:.2f} ({event['drop_lower']:.2f} to {event['drop_upper']:.2f})",
            f"{event['mix_shift']:.2f}",
            f"{event['evidence_days']:,.0f} days",
            f"{event['n']:,}",
            show(", ".join(f"{one['stratum']} {one['drop']:.2f}" for one in event["worst_strata"])),
        )
    make_console().print(table)


def _fold(name: str) -> str:
    """The name of a stream, in several lines where it is long: they end between its parts."""
    *parts, last = name.split("/")
    lines = [""]
    for part in (*(f"{one}/" for one in parts), last):
        if lines[-1] and len(lines[-1]) + len(part) > _LONGEST_LINE:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _tell_block(block: int) -> str:
    return datetime.fromtimestamp(block * BLOCK_SECONDS, UTC).isoformat().replace("+00:00", "Z")
