"""`ragsonde doctor`: is everything there that a worker needs?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragsonde.cli.connection_options import BrokerUrlOption, DatabaseUrlOption, DataDirOption
from ragsonde.cli.examination import examine
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.finding import Finding, Verdict
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.program import name_quoted
from ragsonde.cli.terminal import make_console, make_table, show, write_json
from ragsonde.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES = (
    ("ragsonde doctor", "of what ragsonde.yaml or the environment names, or of the embedded servers"),
    ("ragsonde doctor --broker-url amqp://guest:guest@127.0.0.1/ --output json", "for scripts"),
)

_STYLES = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.FAILING: "red"}


def doctor(
    *,
    config: ConfigOption = None,
    broker_url: BrokerUrlOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Check broker, database, judges, clock and settings in one table.

    And whether work goes on: names the monitor, the workers and the receiver that listen on this machine,
    with their ports; where messages wait it looks for some seconds whether they are taken. Changes nothing
    and calls no judge. Exit code 4 when something is failing.
    """
    settings = read_settings(
        config, options={"broker_url": broker_url, "database_url": database_url, "data_dir": data_dir}
    )
    findings = [
        finding._replace(found=name_quoted(finding.found), advice=name_quoted(finding.advice))
        for finding in examine(settings)
    ]
    if output is OutputForm.JSON:
        for finding in findings:
            write_json(finding._asdict())
    else:
        _print_table(findings)
    if any(finding.verdict is Verdict.FAILING for finding in findings):
        raise typer.Exit(ExitCode.UNAVAILABLE)


def _print_table(findings: Sequence[Finding]) -> None:
    table = make_table("check", "state", "found", "what to do")
    for finding in findings:
        table.add_row(
            show(finding.check),
            show(finding.verdict.value, _STYLES[finding.verdict]),
            show(finding.found),
            show(finding.advice),
        )
    make_console().print(table)
