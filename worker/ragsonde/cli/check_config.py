"""`ragsonde check-config`."""

import json

from ragsonde.api.rules import build_rules
from ragsonde.cli.alert_sinks import build_alert_sinks
from ragsonde.cli.judge_check import check_judges
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.terminal import make_console, make_table, show, write_json
from ragsonde.judging.model_prices import check_prices
from ragsonde.plugins.sinks import load_sink_kinds
from ragsonde.settings import read_with_origins
from ragsonde.settings.effective import hash_settings, list_rows
from ragsonde.sinks.table import build_destinations

EXAMPLES = (
    ("ragsonde check-config", "what is in force, and where each value came from"),
    ("RAGSONDE_THREADS=8 ragsonde check-config --config prod.yaml", "a variable wins over the file"),
    ("ragsonde check-config --output json", "for scripts; secrets are shown as ****"),
)

RESTART = "Settings are read at the start only: after a change, restart workers, monitor and receiver."


def check_config(config: ConfigOption = None, output: OutputOption = OutputForm.TABLE) -> None:
    """Print the effective settings and their origin.

    Every setting can come from the settings file, from a variable RAGSONDE_<NAME> (parts of nested settings
    joined by two underscores: RAGSONDE_PORTS__MONITOR, RAGSONDE_JUDGES__GPT__SAMPLE) or have its default. All
    problems are listed at once; exit code 2 then. Functions that `extraction` names are imported, as a worker
    does it: one that is not there is a problem too, and so is a judge or a sink that cannot be built, a
    judge's scorer that is not configured, and a budget in dollars for a model whose price is not known. What
    runs keeps its settings until it is started again.
    """
    reading = read_with_origins(config)
    check_judges(reading.settings)
    check_prices(reading.settings.judges)
    build_rules(reading.settings.extraction)
    build_destinations(reading.settings.score_sinks, added=load_sink_kinds())
    build_alert_sinks(reading.settings.regression)
    rows = list_rows(reading)
    fingerprint = hash_settings(reading.settings)
    if output is OutputForm.JSON:
        settings = [row._asdict() for row in rows]
        write_json(
            {"file": str(reading.file) if reading.file else None, "hash": fingerprint, "settings": settings}
        )
        return
    table = make_table("setting", "value", "origin")
    for row in rows:
        value = json.dumps(row.value, ensure_ascii=False) if not isinstance(row.value, str) else row.value
        table.add_row(show(row.key), show(value), show(row.origin, "dim" if row.origin == "default" else ""))
    console = make_console()
    console.print(table)
    console.print(show(f"\nsettings file: {reading.file or 'none'}   hash: {fingerprint}"))
    console.print(show(RESTART))
