"""`ragsonde detect`."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.detected_events import print_events
from ragsonde.cli.detected_streams import Detection, DetectionWish, detect_in_file
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.terminal import write_json, write_note
from ragsonde.regression.baseline import BASELINE_DAYS
from ragsonde.regression.fall_bounds import LOWEST_LEVEL, SMALLEST_DROP
from ragsonde_schemas.app_name import read_app, show_app
from ragsonde_schemas.errors import InputError

EXAMPLES = (
    ("ragsonde detect scores.csv", "when somebody would have been told, by how much scores fell, since when"),
    ("ragsonde detect --app shop --since 30d", "the same of what is stored, held to its first days"),
    ("ragsonde detect --app shop --scorer context_relevance --output json", "one JSON object an alert"),
    ("ragsonde detect scores.csv --baseline-days 14 --smallest-drop .05", "two weeks to compare with"),
    ("ragsonde detect scores.csv --floor .6", "also streams with too few traces for a baseline"),
)
_USUAL_SPAN = timedelta(days=30)

FileArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="CSV with the columns time and value, and perhaps stratum, scorer, app and release.",
        dir_okay=False,
    ),
]
DaysOption = Annotated[
    int,
    typer.Option(
        "--baseline-days", min=1, max=365, help="How many first days of a stream are compared with."
    ),
]
DropOption = Annotated[
    float | None,
    typer.Option(
        "--smallest-drop",
        min=0.001,
        max=0.5,
        help=f"The smallest fall that matters; else that of the settings, {SMALLEST_DROP} of a file.",
    ),
]
FloorOption = Annotated[
    float | None,
    typer.Option(
        "--floor",
        min=LOWEST_LEVEL,
        max=1,
        help="A mean that scores should not be below, where there are too few traces for a baseline.",
    ),
]


def detect(
    file: FileArgument = None,
    *,
    app: Annotated[
        str | None, typer.Option(help="In place of FILE: whose stored scores; `default` is the unknown app.")
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=reading_of("--since"),
            metavar="WHEN",
            help=f"With --app: where its history begins, all being well: {MOMENT_HELP}; else 30 days ago.",
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(parser=reading_of("--until"), metavar="WHEN", help="With --app: its end; else now."),
    ] = None,
    environment: Annotated[str | None, typer.Option(help="With --app: only of this one.")] = None,
    scorer: Annotated[str | None, typer.Option(help="With --app: only this scorer.")] = None,
    judge: Annotated[str | None, typer.Option(help="With --app: only this judge.")] = None,
    baseline_days: DaysOption = BASELINE_DAYS,
    smallest_drop: DropOption = None,
    floor: FloorOption = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Say when scores fell, by how much and since when: a history through the detector.

    Of a file, no services needed: each scorer and app is a stream of its own. With --app, of what is stored:
    each scorer, judge and environment is one. Strata are compared each with itself. What is told is what a
    detector would have told that saw the traces come.
    """
    wish = DetectionWish(baseline_days=baseline_days, smallest_drop=smallest_drop, floor=floor)
    limits = {
        "app": app,
        "since": since,
        "until": until,
        "environment": environment,
        "scorer": scorer,
        "judge": judge,
        "config": config,
        "database-url": database_url,
        "data-dir": data_dir,
    }
    if file is not None:
        _refuse_limits(file, limits)
        detection, what = detect_in_file(file, wish), str(file)
    elif app is None:
        raise InputError("found neither FILE nor --app, expected one of them: whose scores?")
    else:
        begin, end = _read_stretch(since, until)
        # a file needs no database: half a second less
        from ragsonde.cli.stored_histories import StreamChoice, detect_in_store  # noqa: PLC0415

        choice = StreamChoice(read_app(app), environment, scorer, judge, begin, end)
        detection = detect_in_store(
            choice, wish, config=config, options={"database_url": database_url, "data_dir": data_dir}
        )
        what = f"{show_app(choice.app)}, since {begin:%Y-%m-%d %H:%M} UTC"
    _print(detection, what=what, output=output)


def _refuse_limits(file: Path, limits: Mapping[str, object]) -> None:
    for name, value in limits.items():
        if value is not None:
            raise InputError(
                f"found FILE ({file}) and --{name}, expected one of them: --{name} is of what is stored"
            )


def _read_stretch(since: datetime | None, until: datetime | None) -> tuple[datetime, datetime]:
    end = datetime.now(UTC) if until is None else until
    begin = end - _USUAL_SPAN if since is None else since
    if begin >= end:
        raise InputError(
            f"--since: found {begin:%Y-%m-%dT%H:%M}, expected a time before {end:%Y-%m-%dT%H:%M}"
        )
    return begin, end


def _print(detection: Detection, *, what: str, output: OutputForm) -> None:
    events = detection.list_events()
    if output is OutputForm.JSON:
        for event in events:
            write_json(event)
    elif events:
        print_events(events)
    else:
        write_note(f"{what}: nothing to tell of {detection.streams} stream{'s' * (detection.streams != 1)}")
