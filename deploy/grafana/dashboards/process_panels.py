"""Our own processes: the monitor's jobs, and whether all run the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.expressions import RANGE, STEP, count_growth
from dashboards.limits import read_limit
from dashboards.panels import (
    BAD,
    COUNT,
    GOOD,
    LOW_HEIGHT,
    NARROW,
    NOTICE,
    SECONDS,
    Frame,
    Panel,
    draw_lines,
    show_numbers,
)
from dashboards.queries import PromQuery
from ragsonde.exposition.series import (
    BUILD,
    CONFIG,
    MONITOR_JOB_FAILURES,
    MONITOR_JOB_LAST_SUCCESS,
    SERIES_DROPPED,
    SINK_FAILURES,
)

if TYPE_CHECKING:
    from ragsonde.exposition.declaration import Declaration

_DIFFERS = ((None, GOOD), (2, BAD))
_ANY = ((None, GOOD), (0.5, NOTICE))


def show_processes() -> tuple[Panel, ...]:
    """All of them."""
    return (*_show_uniformity(), *_show_losses(), *_show_jobs())


def _count(frame: Frame, series: Declaration, *, label: str) -> Panel:
    expression = f"count(count by ({label}) ({series.full_name}))"
    return show_numbers(frame, PromQuery(expression=expression, legend="different", is_instant=True))


def _show_uniformity() -> tuple[Panel, ...]:
    return (
        _count(
            Frame(
                number=501,
                title="Configurations in force",
                description="Processes that read different settings give scores that do not compare. Above 1 "
                "for longer than a roll-out: `ragsonde check-config` on each machine shows the difference.",
                unit=COUNT,
                steps=_DIFFERS,
                width=NARROW,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            CONFIG,
            label="hash",
        ),
        _count(
            Frame(
                number=502,
                title="Versions in force",
                description="How many versions of ragsonde run. Above 1 for longer than a roll-out: some "
                "process was not restarted.",
                unit=COUNT,
                steps=_DIFFERS,
                width=NARROW,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            BUILD,
            label="version",
        ),
    )


def _sum_growth(frame: Frame, series: Declaration) -> Panel:
    expression = count_growth(series, window=RANGE, by=())
    return show_numbers(frame, PromQuery(expression=expression, legend="in this time", is_instant=True))


def _show_losses() -> tuple[Panel, ...]:
    return (
        _sum_growth(
            Frame(
                number=503,
                title="Values without a series",
                description="The limit of exposed lines was reached: these dashboards are incomplete. Fewer "
                "apps, environments or scorers a process, or a higher limit.",
                unit=COUNT,
                steps=_ANY,
                width=NARROW,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            SERIES_DROPPED,
        ),
        _sum_growth(
            Frame(
                number=504,
                title="Results not counted",
                description="Committed results that could not be put into series: they are in Postgres and "
                "lack here. The worker's log says why.",
                unit=COUNT,
                steps=_ANY,
                width=NARROW,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            SINK_FAILURES,
        ),
    )


def _show_jobs() -> tuple[Panel, ...]:
    # of several monitors one does the job: the newest success counts
    newest = f"max by (job_name) ({MONITOR_JOB_LAST_SUCCESS.full_name})"
    return (
        draw_lines(
            Frame(
                number=505,
                title="Since the monitor's jobs succeeded",
                description="Age of the newest success of each job; a saw-tooth as long as its interval. "
                "One that climbs on: the job fails or hangs, the monitor's log says why. All: no monitor "
                "runs. The line is when an alert tells of the quick jobs; others run seldom.",
                unit=SECONDS,
                steps=((None, GOOD), (read_limit("monitor_age_seconds"), NOTICE)),
            ),
            PromQuery(expression=f"time() - ({newest} > 0)", legend="{{job_name}}"),
        ),
        draw_lines(
            Frame(
                number=506,
                title="Failed runs of the monitor's jobs",
                description="Failures per interval. A few while the database restarts are harmless; ones "
                "that go on are not: the monitor's log says why.",
                unit=COUNT,
                steps=((None, GOOD), (1, NOTICE)),
            ),
            PromQuery(
                expression=count_growth(MONITOR_JOB_FAILURES, window=STEP, by=("job_name",)),
                legend="{{job_name}}",
            ),
        ),
    )
