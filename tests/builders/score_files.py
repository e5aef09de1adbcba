"""Counts of scores written out again as a file of traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ragsonde.regression.blocks import BlockCounts


def write_score_file(path: Path, streams: Mapping[tuple[str, str], BlockCounts]) -> Path:
    """A line a trace, at the second after its block begins; streams by scorer and app."""
    lines = ["time,value,stratum,scorer,app"]
    for (scorer, app), counts in streams.items():
        columns = (getattr(counts, name).tolist() for name in ("block", "bin", "stratum", "count"))
        for block, bin_, stratum, count in zip(*columns, strict=True):
            line = f"{block * 300 + 1},{bin_ / 100},{counts.strata[stratum]},{scorer},{app}"
            lines += [line] * count
    path.write_text("\n".join(lines) + "\n")
    return path
