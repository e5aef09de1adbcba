"""`ragsonde drop-demo`: removes the demo wholly, as if it had never been shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.confirmation import confirm
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import count_traces, make_console, show, show_progress, show_waiting, write_json
from ragsonde.demo.corpus import APP
from ragsonde.settings import read_settings
from ragsonde.storage.app_backfills import drop_backfills, list_own_backfills
from ragsonde.storage.app_streams import drop_streams
from ragsonde.storage.erasure import TRACES, Erasing, count_erasable, erase
from ragsonde.storage.erasure_choice import ErasureChoice

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.settings import Settings

EXAMPLES = (
    ("ragsonde drop-demo", "remove it; it asks before"),
    ("ragsonde drop-demo --yes", "remove it where nobody can be asked; `ragsonde up --demo` loads it anew"),
)


def drop_demo(
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Remove the demo: its traces, their history, and the alerts that they raised.

    All of the app `demo` goes, in every environment: what `ragsonde up --demo` loaded and published, with
    verdicts and scores, and what the monitor made of it: counts, baselines, evidence, alerts. Backfills of
    its traces alone go too. What other apps have sent stays. If an application of yours is called `demo`, its
    traces go too.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    choice = ErasureChoice(app=APP)
    with open_database(settings, command="drop-demo") as engine:
        with show_waiting("looking what of it is stored"):
            foreseen = count_erasable(engine, choice)
        if not yes:
            what = f"all of app {APP}: {count_traces(foreseen[TRACES])} and what was made of them"
            confirm(what, verb="remove")
        backfills = list_own_backfills(engine, app=APP)
        traces = _erase(engine, choice, total=foreseen[TRACES], settings=settings)
        made = drop_streams(engine, app=APP)
        dropped = drop_backfills(engine, backfills)
    if output is OutputForm.JSON:
        counts = {"streams": made["score_stream"], "alerts": made["alert"], "backfills": dropped}
        write_json({"traces": traces, **counts})
        return
    make_console().print(
        show(
            f"the demo is removed: {count_traces(traces)}, {made['score_stream']} streams of scores and "
            f"{made['alert']} alerts" + (f", and {dropped} backfills with it" if dropped else "")
        )
    )


def _erase(engine: Engine, choice: ErasureChoice, *, total: int, settings: Settings) -> int:
    retention = settings.retention_days
    with show_progress("removing", total=total) as tell:
        how = Erasing(
            now=datetime.now(UTC),
            keep_tombstones_days=max(retention.trace, retention.parked_message) + 1,
            on_traces=tell,
        )
        return erase(engine, choice, how)[TRACES]
