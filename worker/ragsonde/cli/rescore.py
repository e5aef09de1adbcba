"""`ragsonde rescore`: other weights, penalties, scales, thresholds over verdicts that are stored."""

from datetime import UTC, datetime
from math import ceil
from typing import Annotated

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.default_days import count_chosen_days
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.meant_evaluations import explain_nothing, read_filter
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.rescored_file import rescore_file
from ragsonde.cli.rescoring_run import Rescoring, list_versions, print_rescoring, select_scorers
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import track, write_note
from ragsonde.settings import read_settings
from ragsonde.storage.assessments import EvaluationFilter, read_evaluations
from ragsonde.storage.rescored import activate_versions, read_active_versions
from ragsonde_schemas.errors import InputError

EXAMPLES = (
    ("ragsonde rescore --config new.yaml --dry-run", "what the options of new.yaml would change"),
    ("ragsonde rescore --config new.yaml --app shop --since 2026-10-01", "store them beside the old scores"),
    ("ragsonde rescore --config new.yaml --scorer context_relevance --activate", "and show only them"),
    ("ragsonde rescore --deactivate --scorer context_relevance", "show what the workers have scored again"),
    (
        "ragsonde rescore --file traces.jsonl --judge recorded:verdicts.jsonl --config new.yaml",
        "over files, no services needed",
    ),
)

_Day = Annotated[
    datetime | None,
    typer.Option(
        parser=reading_of("--since"),
        metavar="WHEN",
        help=f"Only traces of that day or later: {MOMENT_HELP}; without it the newest seven days.",
    ),
]


def rescore(
    *,
    app: Annotated[str | None, typer.Option(help="Only this app's traces.")] = None,
    judge: Annotated[
        str | None, typer.Option(help="Only this judge's verdicts; with --file `recorded:VERDICTS`.")
    ] = None,
    since: _Day = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            parser=reading_of("--until"), metavar="WHEN", help="Only traces of that day or earlier."
        ),
    ] = None,
    scorer: Annotated[list[str] | None, typer.Option(help="Only this scorer; repeatable.")] = None,
    activate: Annotated[
        bool, typer.Option("--activate", help="Afterwards show only scores by these options.")
    ] = False,
    deactivate: Annotated[
        bool,
        typer.Option(
            "--deactivate",
            help="Compute nothing; show of each trace again the version by which it was judged.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Compute everything, store nothing.")] = False,
    batch: Annotated[int, typer.Option(min=1, max=5000, help="Evaluations held in memory at once.")] = 200,
    file: Annotated[
        str | None, typer.Option("--file", metavar="TRACES", help="Traces of a file instead of Postgres.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="SCORES", help="With --file: write the scores, JSON lines.")
    ] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Score stored verdicts by the options of the settings: no judge is asked.

    Scores of another version stay beside the old ones; which are shown changes with --activate only. The
    workers should have the same options then. After --deactivate each trace shows the version that its worker
    had when it was judged, not what was rescored. Stopped and started again it goes on and ends in the same
    rows. Where retention has dropped the texts: skipped(content_expired).
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    scorers = select_scorers(scorer, settings=settings)
    if file is not None:
        if app or since or until or activate or deactivate:
            raise InputError("--file: knows no --app, --since, --until, --activate: these are of Postgres")
        run = rescore_file(file, judge=judge, out=out, settings=settings, scorers=scorers, is_dry=dry_run)
        print_rescoring(run, is_dry=dry_run, as_json=output is OutputForm.JSON)
        return
    if activate and deactivate:
        raise InputError("--activate and --deactivate: expected one of them")
    chosen = read_filter(app=app, judge=judge, since=since, until=until)
    with open_database(settings, command="rescore") as engine:
        run = Rescoring(settings=settings, scorers=scorers, active=read_active_versions(engine))
        days = {} if deactivate else count_chosen_days(engine, chosen, takes_all=activate)
        run.days = (min(days), max(days)) if days else None
        batches = read_evaluations(engine, chosen, days=tuple(days), batch_size=batch)
        total = sum(ceil(count / batch) for count in days.values())
        for evaluations in track(batches, total=total, description="rescoring"):
            run.take(evaluations, engine=engine, is_dry=dry_run)
        is_empty = not run.evaluations and not (deactivate or (activate and chosen == EvaluationFilter()))
        if is_empty:
            write_note(explain_nothing(engine, chosen, settings=settings))
            raise typer.Exit(ExitCode.BELOW)
        if (activate or deactivate) and not dry_run:
            run.activated = list_versions(scorers, is_active=activate)
            activate_versions(engine, run.activated, now=datetime.now(UTC))
    print_rescoring(run, is_dry=dry_run, as_json=output is OutputForm.JSON)
