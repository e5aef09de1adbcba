"""`ragsonde extract`."""

from typing import Annotated

import typer

from ragsonde.api.messages import Message, read_messages
from ragsonde.api.rules import Rules, build_rules
from ragsonde.api.traces import decode_messages, gather_placed
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.terminal import write_json, write_note
from ragsonde.cli.trace_cards import print_card
from ragsonde.extraction.mapping_tree import build_tree
from ragsonde.extraction.report import describe_trace
from ragsonde.settings import read_settings
from ragsonde.text_redaction import build_redaction

EXAMPLES = (
    ("ragsonde extract traces.jsonl", "question, answer and numbered contexts of each trace"),
    ("ragsonde extract export.otlp.pb --explain", "also which rule found each field, and what looked odd"),
    (
        "ragsonde extract export.otlp.pb --tree",
        "what a mapping of the setting `extraction` is written against",
    ),
    ("ragsonde extract export.otlp.pb --config ragsonde.yaml", "with the mappings of a settings file"),
    ("ragsonde extract *.json --output json", "one JSON object a trace; of --tree one line a tree"),
    ("curl -s http://127.0.0.1:8000/last | ragsonde extract -", "from standard input"),
)

FilesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="JSON lines, a JSON array, or one message of any known format; - for stdin."
    ),
]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Also the rule that found each field.")]
TreeOption = Annotated[bool, typer.Option("--tree", help="The tree that mappings are written against.")]


def extract(
    files: FilesArgument,
    *,
    explain: ExplainOption = False,
    tree: TreeOption = False,
    config: ConfigOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Show what would be judged: question, answer, numbered contexts.

    Messages that are no traces are named on standard error, the others are shown; exit code 2 then.
    """
    settings = read_settings(config)
    rules = build_rules(
        settings.extraction, limits=settings.message_limits, redaction=build_redaction(settings)
    )
    has_failed = False
    for file in files:
        messages = read_messages(file, formats=rules.formats)
        if tree:
            problems = _print_trees(messages, rules, is_compact=output is OutputForm.JSON)
        else:
            problems = _print_traces(messages, rules, file=file, explain=explain, output=output)
        for problem in problems:
            write_note(problem)
        has_failed = has_failed or bool(problems)
    if has_failed:
        raise typer.Exit(ExitCode.BAD_INPUT)


def _print_traces(
    messages: list[Message], rules: Rules, *, file: str, explain: bool, output: OutputForm
) -> list[str]:
    """Prints the traces of a file; the messages in it that are none."""
    items, bad = decode_messages(messages, rules=rules)
    for item in items:
        if output is OutputForm.JSON:
            write_json(describe_trace(item.trace))
        else:
            print_card(item.trace, place=item.place, with_evidence=explain)
    if not items and not bad:
        write_note(f"{file}: no trace of a RAG application: no span in it tells of retrieval or of a model")
    return [str(message) for message in bad]


def _print_trees(messages: list[Message], rules: Rules, *, is_compact: bool) -> list[str]:
    """Prints a tree for each record; the messages that hold none."""
    placed, bad = gather_placed(messages, rules=rules)
    for _, record in placed:
        write_json(build_tree(record), is_compact=is_compact)
    return [str(message) for message in bad]
