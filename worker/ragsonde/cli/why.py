"""`ragsonde why`: what happened to a trace, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.connections import find_database_url
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import require_current_schema
from ragsonde.cli.story import tell_history
from ragsonde.cli.terminal import make_console, show, write_json
from ragsonde.settings import read_settings
from ragsonde.storage.engine import build_engine
from ragsonde.storage.history import find_similar_ids, read_history

if TYPE_CHECKING:
    from ragsonde.storage.history import TraceHistory

EXAMPLES = (
    ("ragsonde why 4bf92f3577b34da6a3ce929d0e0e4736", "the whole story of a trace"),
    ("ragsonde why order-42 --app shop --output json", "for scripts"),
)


def why(
    *,
    trace_id: Annotated[str, typer.Argument(help="The trace's id, as its producer gave it.")],
    app: Annotated[str | None, typer.Option(help="Only this app's traces.")] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Say what happened to a trace: states, attempts, verdicts, scores, parked messages.

    Exit code 1 when nothing is known of it; stored ids that contain it are named then.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    url = find_database_url(settings)
    require_current_schema(url)
    engine = build_engine(url, application_name="ragsonde-why", pool_size=1)
    try:
        history = read_history(engine, trace_id, app=app)
        similar_ids = () if _is_known(history) else find_similar_ids(engine, trace_id, app=app)
    finally:
        engine.dispose()
    if output is OutputForm.JSON:
        write_json({**history.model_dump(mode="json"), "similar_ids": similar_ids})
    else:
        console = make_console()
        for line in tell_history(history, similar_ids=similar_ids):
            console.print(show(line.text, line.style))
    if not _is_known(history):
        raise typer.Exit(ExitCode.BELOW)


def _is_known(history: TraceHistory) -> bool:
    return bool(history.revisions or history.parked or history.spans)
