"""The console script: a table of commands, and what surrounds every one of them."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from ragsonde.cli.failures import (
    EXIT_CODES_HELP,
    ExitCode,
    OutputLostError,
    ReaderGoneError,
    report_failure,
    silence,
)
from ragsonde.cli.output import watching_output
from ragsonde.cli.program import name_in_example, name_program
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Row(NamedTuple):
    """One command.

    Attributes:
        path: `module:function`, imported only when the command is called.
        summary: for `ragsonde --help`; equal to the first line of the function's docstring.
    """

    path: str
    summary: str


COMMANDS: dict[str, Row] = {
    "up": Row(
        "ragsonde.cli.up:up",
        "Start everything here: Postgres and Valkey from wheels, a worker, a monitor, a receiver.",
    ),
    "worker": Row("ragsonde.cli.worker:worker", "Take traces off the queue, judge and score them."),
    "monitor": Row(
        "ragsonde.cli.monitor:monitor",
        "Sweep due evaluations, close traces, keep partitions, show queues and counts.",
    ),
    "receiver": Row(
        "ragsonde.cli.receiver:receiver", "Receive traces over HTTP and put them on the queue, confirmed."
    ),
    "publish": Row(
        "ragsonde.cli.publish:publish", "Publish the traces of files, each confirmed by the broker."
    ),
    "evaluate": Row(
        "ragsonde.cli.evaluate:evaluate", "Score the traces of a file here and now: no services needed."
    ),
    "extract": Row(
        "ragsonde.cli.extract:extract", "Show what would be judged: question, answer, numbered contexts."
    ),
    "why": Row(
        "ragsonde.cli.why:why",
        "Say what happened to a trace: states, attempts, verdicts, scores, parked messages.",
    ),
    "ledger": Row(
        "ragsonde.cli.ledger:ledger",
        "Check that nothing was lost and nothing counts twice; say where every trace went.",
    ),
    "parked": Row(
        "ragsonde.cli.parked:parked",
        "Show the messages that no worker could work on, publish them again, or drop them.",
    ),
    "cost": Row(
        "ragsonde.cli.cost:cost",
        "Say what judges cost a day: calls, tokens, money, share judged, budgets, how soon a drop is seen.",
    ),
    "report": Row(
        "ragsonde.cli.report:report",
        "Write a report for those who pay: scores and how they moved, falls, costs, coverage, releases.",
    ),
    "annotate": Row("ragsonde.cli.annotate:annotate", "Ask you for verdicts about traces, by single keys."),
    "rescore": Row(
        "ragsonde.cli.rescore:rescore",
        "Score stored verdicts by the options of the settings: no judge is asked.",
    ),
    "backfill": Row(
        "ragsonde.cli.backfill:backfill",
        "Evaluate stored traces by a judge as it is configured now, behind live traffic.",
    ),
    "whatif": Row(
        "ragsonde.cli.what_if:whatif",
        "Say what scores would be with fewer contexts, from stored verdicts: no judge is asked.",
    ),
    "detect": Row(
        "ragsonde.cli.detect:detect",
        "Say when scores fell, by how much and since when: a history through the detector.",
    ),
    "compare": Row(
        "ragsonde.cli.compare:compare",
        "Say whether a release scores worse than another, at any time: a gate for rollouts.",
    ),
    "alerts": Row(
        "ragsonde.cli.alerts:alerts",
        "Show falls of scores that were told, and say what is to become of them.",
    ),
    "baseline": Row(
        "ragsonde.cli.baseline:baseline", "Show what scores are held to, and choose it yourself."
    ),
    "check-set": Row(
        "ragsonde.cli.check_set:check_set",
        "Keep traces that judges see again every day, and say how far judges have moved.",
    ),
    "forget": Row(
        "ragsonde.cli.forget:forget",
        "Erase traces everywhere, by user, session, trace, app or day; they do not come back.",
    ),
    "drop-demo": Row(
        "ragsonde.cli.demo_removal:drop_demo",
        "Remove the demo: its traces, their history, and the alerts that they raised.",
    ),
    "user-keys": Row(
        "ragsonde.cli.user_keys:user_keys",
        "Show, rotate and retire the keys by which users' ids become pseudonyms.",
    ),
    "migrate": Row("ragsonde.cli.migrate:migrate", "Create or upgrade the tables."),
    "maintain": Row(
        "ragsonde.cli.maintain:maintain",
        "Make partitions, drop what is over its age or not to be kept, and say how large the tables are.",
    ),
    "list-scorers": Row(
        "ragsonde.cli.list_scorers:list_scorers", "List the scorers and how to read their scores."
    ),
    "list-series": Row("ragsonde.cli.list_series:list_series", "List what is exposed to Prometheus."),
    "check-config": Row(
        "ragsonde.cli.check_config:check_config", "Print the effective settings and their origin."
    ),
    "doctor": Row(
        "ragsonde.cli.doctor:doctor", "Check broker, database, judges, clock and settings in one table."
    ),
    "export-schema": Row(
        "ragsonde.cli.export_schema:export_schema", "Print the JSON Schema of the native message."
    ),
}
"""In the order in which `--help` lists them."""

EXAMPLES = (
    ("ragsonde evaluate traces.jsonl", "score a file, no services needed"),
    ("ragsonde extract traces.jsonl --explain", "see what would be judged, and which rule found it"),
    ("ragsonde COMMAND --help", "every command teaches by examples"),
)


class LazyGroup(TyperGroup):
    """Knows every command by name and summary, and imports one only when it is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:  # noqa: ANN401 - Typer's own classes moved between versions
        """The called command, imported now, and the arguments that are left for it."""
        name, placeholder, rest = super().resolve_command(ctx, args)
        if name is None or placeholder is None:
            return name, placeholder, rest
        return name, load_command(name), rest


def load_command(name: str) -> Any:  # noqa: ANN401 - as above
    """The command of that name, with its module imported.

    The module's `EXAMPLES`, pairs of a command line and what it is for, end its help.
    """
    module_name, _, function = COMMANDS[name].path.partition(":")
    module = import_module(module_name)
    command = getattr(module, function)
    single = _make_typer()
    single.command(name, help=unwrap(command.__doc__), epilog=format_examples(module.EXAMPLES))(command)
    return typer.main.get_command(single)


def build_group() -> Callable[..., Any]:
    """The whole command line, no command imported yet."""
    app = _make_typer(cls=LazyGroup, epilog=format_examples(EXAMPLES, EXIT_CODES_HELP))
    app.callback()(_ragsonde)
    for name, row in COMMANDS.items():
        app.command(name, help=row.summary)(_placeholder)
    return typer.main.get_command(app)


def format_examples(examples: Iterable[tuple[str, str]], *notes: str) -> str:
    """The end of a help text: each command line under what it is for."""
    lines = [
        f"[dim]# {_escape(purpose)}[/dim]\n{_escape(name_in_example(command))}"
        for command, purpose in examples
    ]
    return "\n\n".join(["\n".join(["[bold]Examples[/bold]", *lines]), *notes])


def unwrap(text: str) -> str:
    """A docstring with one line a paragraph: the terminal wraps it at its own width."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def run(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits; every failure is one clear line unless `--debug` is given."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    is_debug = _take_flag(arguments, flag="--debug")
    if sys.stderr is None:  # closed by the caller: what is told there goes nowhere, the exit code remains
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for as long as the process lives
    try:
        _refuse_undecodable(arguments)
        with watching_output():
            code = build_group()(arguments or ["--help"], prog_name=name_program(), standalone_mode=False)
    except ReaderGoneError:
        silence(sys.stdout)
        code = ExitCode.OK
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: whatever it is, a person reads one clear line
        code = report_failure(error, is_debug=is_debug)
        if isinstance(error, OutputLostError) and sys.stdout is not None:
            silence(sys.stdout)
    sys.exit(code if isinstance(code, int) else ExitCode.OK)


def _refuse_undecodable(arguments: Sequence[str]) -> None:
    """No name, path or text of ours can hold what is no text: the database would refuse it much later."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = argument.encode("ascii", "backslashreplace").decode()
            raise InputError(f"found the argument {shown}, which is no UTF-8; expected text") from None


def _make_typer(cls: type[TyperGroup] | None = None, *, epilog: str | None = None) -> typer.Typer:
    return typer.Typer(
        cls=cls,
        epilog=epilog,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _escape(text: str) -> str:
    return text.replace("[", "\\[")


def _take_flag(arguments: list[str], *, flag: str) -> bool:
    """Removes a flag that may stand anywhere before `--`; true when it was there."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if flag not in arguments[:end]:
        return False
    arguments.remove(flag)
    return True


def _print_version(is_wanted: bool) -> None:  # noqa: FBT001 - Typer calls it with the flag's value
    if is_wanted:
        from importlib.metadata import version  # noqa: PLC0415 - costs 10 ms that only --version needs

        sys.stdout.write(f"ragsonde {version('ragsonde')}\n")
        raise typer.Exit


def _placeholder() -> None:
    """Stands for a command that is not imported; never called."""


def _ragsonde(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    _debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of a failure; may stand after the command too."),
    ] = False,
) -> None:
    """Scores every trace of a production RAG application, continuously."""
