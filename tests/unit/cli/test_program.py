"""How hints name the program: as it can be typed where they are read."""

import os
import subprocess
import sys

import pytest

from ragsonde.cli.failures import ExitCode
from ragsonde.cli.program import name_command, name_in_example, name_program, name_quoted

SCRIPT = "#!{python}\nfrom ragsonde.cli.main import run\nrun()\n"


def install(folder):
    """A console script of the name in that folder, as pip writes it."""
    script = folder / "ragsonde"
    folder.mkdir(parents=True)
    script.write_text(SCRIPT.format(python=sys.executable))
    script.chmod(0o755)
    return script


def ask(*command, **variables):
    """What a call without its argument says on standard error."""
    ran = subprocess.run(
        [*map(str, command), "extract"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == ExitCode.BAD_INPUT
    return ran.stderr


@pytest.mark.parametrize(
    ("called", "named"),
    [
        ("venv dir/bin/ragsonde", "'venv dir/bin/ragsonde'"),
        ("../{here}/venv dir/bin/ragsonde", "'../{here}/venv dir/bin/ragsonde'"),
        ("{cwd}/venv dir/bin/ragsonde", "'venv dir/bin/ragsonde'"),
    ],
)
def test_a_script_off_the_search_path_is_named_as_it_can_be_typed_here(called, named, tmp_path):
    install(tmp_path / "venv dir" / "bin")
    words = {"cwd": tmp_path, "here": tmp_path.name}

    assert f"`{named.format(**words)} extract --help`" in ask(called.format(**words), PATH="/nowhere")


def test_a_script_in_this_very_folder_is_named_as_a_shell_finds_it(tmp_path):
    script = install(tmp_path / "bin")
    os.chdir(script.parent)

    assert "`./ragsonde extract --help`" in ask(script, PATH="/nowhere")


def test_a_script_on_the_search_path_is_named_by_its_name(tmp_path):
    script = install(tmp_path / "bin")

    assert "`ragsonde extract --help`" in ask(script, PATH=str(script.parent))


def test_another_program_of_the_name_on_the_search_path_is_not_meant(tmp_path):
    script, other = install(tmp_path / "a"), install(tmp_path / "b")

    assert "`a/ragsonde extract --help`" in ask(script, PATH=str(other.parent))


def test_the_module_is_named_by_the_script_beside_its_python(monkeypatch, tmp_path):
    script = install(tmp_path / "venv")
    monkeypatch.setattr(sys, "argv", ["/site/ragsonde/__main__.py"])
    monkeypatch.setattr(sys, "executable", str(script.with_name("python3")))

    assert name_program() == "venv/ragsonde"


def test_the_module_without_a_script_is_called_by_its_python(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["/site/ragsonde/__main__.py"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))

    assert name_program() == "./python3 -m ragsonde"


@pytest.mark.parametrize("called", ["-c", "", "/usr/bin/pytest", "/site/other/__main__.py", "ragsonde"])
def test_inside_another_program_it_has_its_plain_name(called, monkeypatch):
    monkeypatch.setattr(sys, "argv", [called])

    assert name_command("up --demo") == "ragsonde up --demo"


def test_quoted_commands_and_examples_name_it_and_nothing_else_is_touched(monkeypatch, tmp_path):
    script = install(tmp_path / "bin")
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", "/nowhere")

    assert (
        name_quoted("ragsonde is not up: start `ragsonde up` (data in ragsonde-data)")
        == "ragsonde is not up: start `bin/ragsonde up` (data in ragsonde-data)"
    )
    assert (
        name_in_example("cat x | ragsonde extract - > ragsonde.json")
        == "cat x | bin/ragsonde extract - > ragsonde.json"
    )
    assert name_in_example("A=1 ragsonde up --data-dir /var/ragsonde --workers 2") == (
        "A=1 bin/ragsonde up --data-dir /var/ragsonde --workers 2"
    )


def test_help_names_it_in_usage_and_examples(tmp_path):
    script = install(tmp_path / "bin")
    environ = {**os.environ, "PATH": "/nowhere", "COLUMNS": "200"}

    out = subprocess.run(
        [script, "extract", "--help"], env=environ, capture_output=True, text=True, check=True
    ).stdout

    assert "Usage: bin/ragsonde extract" in out
    assert "bin/ragsonde extract traces.jsonl" in out
    assert " ragsonde extract" not in out
