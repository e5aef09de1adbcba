"""`ragsonde annotate`: people give verdicts about traces by single keys."""

from pathlib import Path
from typing import Annotated

import typer

from ragsonde.cli.annotated_traces import choose_from_file, choose_stored
from ragsonde.cli.annotation_file import open_annotations
from ragsonde.cli.annotation_session import Session
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.keys import open_keys
from ragsonde.cli.options import ConfigOption
from ragsonde.cli.terminal import make_console
from ragsonde.settings import read_settings
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.errors import InputError

EXAMPLES = (
    ("ragsonde annotate traces.jsonl", "every trace of a file, in order"),
    ("ragsonde annotate traces.jsonl --worst 20 --random 20", "by the lexical judge's scores, from a file"),
    ("ragsonde annotate --app shop --worst 30 --random 30", "from Postgres, of the last seven days"),
    ("ragsonde evaluate traces.jsonl --judge gpt --against annotations.jsonl", "what it is good for"),
)


def annotate(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Traces; else --app, from Postgres.")
    ] = None,
    *,
    app: Annotated[str | None, typer.Option(help="This app's traces from Postgres.")] = None,
    worst: Annotated[int, typer.Option(min=0, help="So many with the lowest scores.")] = 0,
    random: Annotated[
        int, typer.Option(min=0, help="So many others, drawn by trace id: the same each time.")
    ] = 0,
    scorer: Annotated[str, typer.Option(help="By whose score the worst are found.")] = "context_relevance",
    judge: Annotated[str, typer.Option(help="By whose verdicts, for --worst from Postgres.")] = "lexical",
    days: Annotated[int, typer.Option(min=1, help="So many days of Postgres, today included.")] = 7,
    out: Annotated[Path, typer.Option("--out", help="Where annotations are added, a line a trace.")] = Path(
        "annotations.jsonl"
    ),
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Ask you for verdicts about traces, by single keys.

    For each context: relevant y/n, supports the reference y/n (where there is one), level h/m/l/0, used in
    the answer u (or y) /n; then whether the contexts suffice y/n. s skips the trace, b goes back, q ends.

    Every answer is kept at once: end with q or Ctrl-C and call it again to go on; annotated traces do not
    come again. Scores and judges' verdicts are not shown: they would sway you.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    if (file is None) == (app is None):
        raise InputError("annotate: expected FILE or --app APP, one of them")
    with open_annotations(out) as annotations:
        if file is not None:
            traces = choose_from_file(file, worst=worst, random=random, scorer=scorer, settings=settings)
        else:
            if not worst and not random:
                raise InputError("--app: expected --worst N, --random N or both: how many traces")
            traces = choose_stored(
                app=read_app(app or ""),
                worst=worst,
                random=random,
                scorer=scorer,
                judge=judge,
                days=days,
                settings=settings,
            )
            if not traces:
                raise typer.Exit(ExitCode.BELOW)
        session = Session(annotations, console=make_console())
        with open_keys() as keys:
            session.run(traces, keys=keys)
