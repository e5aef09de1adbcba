"""What other commands need to know of an embedded stack that runs: a small file in its data directory."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ragsonde.servers.processes import ProcessIdentity, is_running
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

_FILE_NAME = "servers.json"


@dataclass(frozen=True)
class StackUrls:
    """Where an embedded stack is reached.

    Attributes:
        database_url: `postgresql://`, by unix socket.
        broker_url: `redis+socket://`.
    """

    database_url: str
    broker_url: str


def find_running(data_dir: Path) -> StackUrls | None:
    """Where the stack of this data directory is reached, or None when it does not run; starts nothing.

    Both servers must be the very processes that were noted: a pid that belongs to a stranger by now is no
    server.

    Raises:
        SetupError: the note belongs to another user.
    """
    path = data_dir.expanduser().resolve() / _FILE_NAME
    try:
        note = json.loads(path.read_text())
        identities = [ProcessIdentity(**server) for server in note["servers"]]
        urls = StackUrls(**note["urls"])
    except PermissionError as error:
        raise SetupError(
            f"the servers in {data_dir} run as another user: use the same user, or root"
        ) from error
    except (OSError, ValueError, KeyError, TypeError):  # not there, or cut off: nothing that runs wrote it
        return None
    return urls if all(map(is_running, identities)) else None


def note_running(data_dir: Path, *, urls: StackUrls, servers: tuple[ProcessIdentity, ...]) -> None:
    """Writes the note for `find_running`, whole or not at all."""
    path = data_dir / _FILE_NAME
    note = {"urls": asdict(urls), "servers": [asdict(server) for server in servers]}
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(json.dumps(note, indent=2) + "\n")
    unfinished.chmod(0o600)
    unfinished.replace(path)


def forget_running(data_dir: Path) -> None:
    """Removes the note."""
    (data_dir / _FILE_NAME).unlink(missing_ok=True)
