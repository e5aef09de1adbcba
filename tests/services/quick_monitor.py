"""`ragsonde` whose monitor pauses so many times shorter between runs of a job: quick_monitor.py 60 monitor.

The jobs, their order and their locks are those of the program; a pause is never shorter than a scrape's. What
a job shows is shown for as long as with its own pauses: a machine is not so many times faster.
"""

from __future__ import annotations

import sys

from ragsonde.cli.main import run
from ragsonde.monitor.pace import Ending, Pace

LEAST_SECONDS = 1.0
note, choose_shown_seconds = Pace.note, Pace.choose_shown_seconds


def quicken(factor: int) -> None:
    """Divides the pauses of all jobs."""

    def note_shorter(pace: Pace, ending: Ending, *, took_seconds: float) -> float:
        return max(LEAST_SECONDS, note(pace, ending, took_seconds=took_seconds) / factor)

    def choose_as_ever(pace: Pace, *, pause_seconds: float) -> float:
        return choose_shown_seconds(pace, pause_seconds=pause_seconds * factor)

    Pace.note = note_shorter  # type: ignore[method-assign]
    Pace.choose_shown_seconds = choose_as_ever  # type: ignore[method-assign]


if __name__ == "__main__":
    quicken(int(sys.argv.pop(1)))
    run()
