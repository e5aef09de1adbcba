"""Yesterday and a week ago for a Prometheus that starts now."""

from __future__ import annotations

import time
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from services.promtool import require_tool, run_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

DAY_SECONDS = 86_400
STEP_SECONDS = 2
BEFORE_SECONDS, AFTER_SECONDS = 120, 1800


class Line(NamedTuple):
    """A series that had one value all the time."""

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float


def write_past(lines: Iterable[Line], *, days_ago: Iterable[int], folder: Path) -> None:
    """Puts the lines into a Prometheus' data, of each of these days, from two minutes before this time on.

    There is half an hour of it: a test that takes longer would find no day ago.
    """
    text = folder / "past.txt"
    now = int(time.time())
    # the times of a series must grow
    starts = [now - days * DAY_SECONDS - BEFORE_SECONDS for days in sorted(days_ago, reverse=True)]
    with text.open("w") as output:
        output.writelines(f"{line}\n" for line in _write_lines(sorted(lines), starts))
    command = ("tsdb", "create-blocks-from", "openmetrics", str(text), str(folder / "data"))
    code, told = run_tool(require_tool("promtool"), *command)
    assert code == 0, told


def _write_lines(lines: list[Line], starts: list[int]) -> Iterator[str]:
    for name, members in groupby(lines, key=lambda line: line.name):
        yield f"# TYPE {name} gauge"
        for line in members:
            labels = ",".join(f'{label}="{value}"' for label, value in line.labels)
            for start in starts:
                for at in range(start, start + BEFORE_SECONDS + AFTER_SECONDS, STEP_SECONDS):
                    yield f"{name}{{{labels}}} {line.value:g} {at}"
    yield "# EOF"
