import re
import resource
import subprocess
import sys
from importlib import import_module

import pytest
import typer

from ragsonde.cli.failures import ExitCode, choose_exit_code, describe_failure
from ragsonde.cli.main import COMMANDS, load_command, run, unwrap
from ragsonde_schemas.errors import (
    BrokerLostError,
    ConfigError,
    DatabaseLostError,
    InputError,
    JudgePausedError,
    SetupError,
)

HEAVY = ("litellm", "celery", "kombu", "sqlalchemy", "psycopg", "pydantic", "prometheus_client", "yaml")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def call(capsys, *arguments):
    """Exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    out, err = capsys.readouterr()
    return ended.value.code, ANSI.sub("", out), ANSI.sub("", err)


def test_every_command_takes_a_point_in_time_as_a_span_back_and_as_a_day():
    found = 0
    for name in COMMANDS:
        command = load_command(name)
        context = typer.Context(command)
        for parameter in command.params:
            if not {"--since", "--until", "--before"} & set(parameter.opts):
                continue
            found += 1
            for text in ("24h", "7d", "2026-10-01"):
                value = parameter.process_value(context, text)
                assert value == text or value.tzinfo is not None, (name, parameter.opts)
    assert found >= 9


def test_a_far_point_in_time_is_refused_by_every_command_that_reads_one():
    found = 0
    for name in COMMANDS:
        command = load_command(name)
        for parameter in command.params:
            if not {"--since", "--until", "--before"} & set(parameter.opts):
                continue
            for text in ("9999-12-31T23:59", "0001-01-01T00:00+14:00"):
                try:
                    value = parameter.process_value(typer.Context(command), text)
                except InputError:
                    found += 1
                else:
                    assert value == text, (name, parameter.opts)  # it is read later, by the same reader
    assert found >= 4


@pytest.mark.parametrize(
    "words",
    [
        ("alerts", "show", "9223372036854775808"),
        ("alerts", "ack", "9" * 30),
        ("baseline", "drop", "2147483648", "--reason", "x"),
    ],
)
def test_a_number_that_no_row_can_have_is_bad_input(capsys, words):
    code, out, err = call(capsys, *words)
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert "Input should be less than or equal to 2147483647" in err or "to 9223372036854775807" in err


@pytest.mark.parametrize(
    "words",
    [
        ("alerts", "list", "--app", "\udcff"),
        ("evaluate", "\udcff.jsonl"),
        ("\udcff",),
        ("forget", "--user", "a\udce9"),
    ],
)
def test_an_argument_that_is_no_text_is_bad_input_everywhere(capsys, words):
    code, out, err = call(capsys, *words)
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    assert re.fullmatch(
        r"ragsonde: found the argument \S*\\udc[ef][f9]\S*, which is no UTF-8; expected text\n", err
    )


def test_help_costs_less_than_half_a_second_of_cpu_and_imports_nothing_heavy():
    code = (
        "import sys\nfrom ragsonde.cli.main import run\n"
        "try: run(['--help'])\nexcept SystemExit: pass\n"
        f"print('HEAVY', [name for name in {HEAVY} if name in sys.modules])"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "HEAVY []" in ran.stdout
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 0.5


@pytest.mark.parametrize(
    ("name", "unneeded"),
    [
        (
            "alerts",
            ("alembic", "ragsonde.storage.tables", "ragsonde.decoding.table", "kombu", "celery", "litellm"),
        ),
        (
            "baseline",
            ("alembic", "ragsonde.storage.tables", "ragsonde.decoding.table", "kombu", "celery", "litellm"),
        ),
        ("why", ("alembic", "numpy", "kombu", "celery", "litellm")),
        ("parked", ("alembic", "numpy", "ragsonde.decoding.table", "celery", "litellm")),
        ("doctor", ("alembic", "numpy", "litellm")),
    ],
)
def test_what_a_command_does_not_need_it_does_not_import(name, unneeded):
    code = (
        f"import sys\nfrom ragsonde.cli.main import load_command\nload_command({name!r})\n"
        f"print('UNNEEDED', [name for name in {unneeded} if name in sys.modules])"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "UNNEEDED []\n"


def test_help_lists_every_command_in_the_order_of_the_table(capsys):
    code, out, _ = call(capsys, "--help")

    places = [out.index(f"│ {name} ") for name in COMMANDS]
    assert code == 0
    assert places == sorted(places)
    assert "Exit codes: 0 done; 1 done, but below what was asked for; 2 bad input" in " ".join(out.split())


def test_no_argument_is_a_wish_for_help(capsys):
    assert call(capsys) == call(capsys, "--help")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_loaded_teaches_by_examples_and_keeps_its_summary(name, capsys):
    module = import_module(COMMANDS[name].path.partition(":")[0])

    code, out, _ = call(capsys, name, "--help")

    assert load_command(name).help.split("\n\n")[0] == COMMANDS[name].summary
    assert code == 0
    assert len(module.EXAMPLES) >= 1
    for command, _ in module.EXAMPLES:
        assert command.split()[0] in out


def test_version_is_the_packages(capsys):
    code, out, _ = call(capsys, "--version")

    assert code == 0
    assert re.fullmatch(r"ragsonde \d+\.\d+\.\d+\n", out)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["lst-scorers"],
            "No such command 'lst-scorers'. Did you mean 'list-scorers', 'list-series'?; `ragsonde --help`",
        ),
        (["list-scorers", "--explian"], "No such option: --explian"),
        (["extract"], "Missing argument 'FILE...'; `ragsonde extract --help` shows how it is called"),
        (["evaluate", "x", "--max-unscored", "-1"], "Invalid value for '--max-unscored'"),
        (["check-config", "--output", "xml"], "Invalid value for '--output'"),
    ],
)
def test_a_wrong_call_is_one_line_that_says_where_help_is(arguments, expected, capsys):
    code, out, err = call(capsys, *arguments)

    assert (code, out) == (2, "")
    assert err.startswith("ragsonde: ")
    assert err.count("\n") == 1
    assert expected in err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("a", "b"), 2),
        (InputError("x"), 2),
        (BrokerLostError("x"), 4),
        (DatabaseLostError("x"), 4),
        (JudgePausedError("gpt", "401"), 4),
        (SetupError("x"), 4),
        (ValueError("x"), 70),
    ],
)
def test_every_error_has_its_exit_code(error, code):
    assert choose_exit_code(error) == code


def test_each_problem_of_a_configuration_is_a_line():
    assert describe_failure(ConfigError("a: wrong", "b: wrong")) == ("a: wrong", "b: wrong")


@pytest.fixture
def failing_command(monkeypatch):
    """Makes `list-scorers` raise what the test puts into the list."""
    raised = []

    def fail(*_arguments: object, **_options: object):
        raise raised[0]

    monkeypatch.setattr("ragsonde.cli.list_scorers.read_settings", fail)
    return raised


def test_a_fault_of_ours_is_told_without_traceback(failing_command, capsys):
    failing_command.append(ZeroDivisionError("division by zero"))

    code, out, err = call(capsys, "list-scorers")

    assert (code, out) == (ExitCode.INTERNAL, "")
    assert "internal error: ZeroDivisionError: division by zero" in err
    assert "--debug" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["--debug", "list-scorers"], ["list-scorers", "--debug"]])
def test_debug_shows_the_traceback_wherever_it_stands(arguments, failing_command, capsys):
    failing_command.append(InputError("wrong file"))

    code, _, err = call(capsys, *arguments)

    assert code == ExitCode.BAD_INPUT
    assert "Traceback" in err
    assert err.endswith("ragsonde: wrong file\n")


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), typer.Abort()])
def test_an_interrupt_ends_with_its_own_code(raised, failing_command, capsys):
    failing_command.append(raised)

    assert call(capsys, "list-scorers")[0] == ExitCode.INTERRUPTED


def test_a_docstring_is_one_line_a_paragraph_so_that_the_terminal_wraps_it():
    assert unwrap("One\n    line.\n\n    Another.") == "One line.\n\nAnother."
