"""`ragsonde extract`."""

from typing import Annotated

import typer

from ragsonde.api.messages import read_messages
from ragsonde.api.traces import decode_messages
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.options import OutputForm, OutputOption
from ragsonde.cli.terminal import write_json, write_note
from ragsonde.cli.trace_cards import print_card
from ragsonde.extraction.report import describe_trace

EXAMPLES = (
    ("ragsonde extract traces.jsonl", "question, answer and numbered contexts of each trace"),
    ("ragsonde extract export.otlp.pb --explain", "also which rule found each field, and what looked odd"),
    ("ragsonde extract *.json --output json", "one JSON object a trace"),
    ("curl -s http://127.0.0.1:8000/last | ragsonde extract -", "from standard input"),
)

FilesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="JSON lines, a JSON array, or one message of any known format; - for stdin."
    ),
]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Also the rule that found each field.")]


def extract(
    files: FilesArgument, *, explain: ExplainOption = False, output: OutputOption = OutputForm.TABLE
) -> None:
    """Show what would be judged: question, answer, numbered contexts.

    Messages that are no traces are named on standard error, the others are shown; exit code 2 then.
    """
    has_failed = False
    for file in files:
        items, bad = decode_messages(read_messages(file))
        for item in items:
            if output is OutputForm.JSON:
                write_json(describe_trace(item.trace))
            else:
                print_card(item.trace, place=item.place, with_evidence=explain)
        for message in bad:
            write_note(str(message))
        has_failed = has_failed or bool(bad)
    if has_failed:
        raise typer.Exit(ExitCode.BAD_INPUT)
