# ruff: noqa: T201  # a program that prints a table
"""The regression detector beside the usual rules, each held to the same bars: `make bench-detector`.

Draws its streams itself, from one seed: nothing was tuned on these. Page-Hinkley and ADWIN are shown where
river is installed. Exit code 1 where a bar is not met.
"""

from __future__ import annotations

import argparse
import sys
import time

from acceptance import LONG, SHORT, Row, list_parts, measure_all
from river_rules import IS_THERE
from through_command import ask_command
from trials import Trial

RULES = ("static", "ratio", "z-score", "Page-Hinkley", "ADWIN")
SEED = 20_261_201


def measure(*, is_short: bool, seed: int, part: str | None = None) -> int:
    """Prints the table of one seed; 1 where a bar is not met."""
    begun, cpu = time.monotonic(), time.process_time()
    rows = []
    for row in measure_all(SHORT if is_short else LONG, seed=seed, part=part):
        rows.append(row)
        print(f"{row.what}: {row.measured}", file=sys.stderr, flush=True)
    print("\n".join(_lay_out(rows)))
    if not IS_THERE:
        print("\nPage-Hinkley and ADWIN are not shown: river is not installed (pip install river)")
    minutes, cpu_minutes = (time.monotonic() - begun) / 60, (time.process_time() - cpu) / 60
    print(f"\nSeed {seed}; {minutes:.1f} minutes, {cpu_minutes:.1f} of them CPU.")
    return int(any(row.is_met is False for row in rows))


def _lay_out(rows: list[Row]) -> list[str]:
    """A Markdown table."""
    lines = [("what", "bar", "measured", "met", *RULES), ("---",) * (4 + len(RULES))]
    for row in rows:
        met = "" if row.is_met is None else "yes" if row.is_met else "**no**"
        lines.append((row.what, row.bar, row.measured, met, *(row.beside.get(name, "") for name in RULES)))
    return [f"| {' | '.join(line)} |" for line in lines]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few streams: a look, not a measurement")
    parser.add_argument("--seed", type=int, default=SEED, help="of all streams")
    parser.add_argument("--seeds", type=int, default=1, help="a table for so many seeds, from --seed on")
    parser.add_argument("--part", choices=list_parts(), help="the rows of one part alone")
    parser.add_argument(
        "--through-command", action="store_true", help="ask `ragsonde detect FILE` of each stream: hours"
    )
    given = parser.parse_args()
    if given.through_command:
        Trial.ask = staticmethod(ask_command)
    ended = [
        measure(is_short=given.short, seed=given.seed + step, part=given.part) for step in range(given.seeds)
    ]
    sys.exit(max(ended, default=0))
