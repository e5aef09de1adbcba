"""Which broker and which database a command talks to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.servers.running import find_running
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from ragsonde.settings import Settings


class Connections(NamedTuple):
    """Where broker and database are.

    Attributes:
        is_embedded_broker: the broker is the embedded Valkey of `data_dir`.
    """

    broker_url: str
    database_url: str
    is_embedded_broker: bool


def find_connections(settings: Settings) -> Connections:
    """The configured URLs, and for what is not configured the running embedded stack's.

    Raises:
        SetupError: neither is there.
    """
    return Connections(
        broker_url=find_broker_url(settings),
        database_url=find_database_url(settings),
        is_embedded_broker=settings.broker_url is None,
    )


def find_broker_url(settings: Settings) -> str:
    """The configured broker, else the running embedded stack's.

    Raises:
        SetupError: neither is there.
    """
    if settings.broker_url:
        return settings.broker_url.get_secret_value()
    return _find_embedded(settings, "broker_url")


def find_database_url(settings: Settings) -> str:
    """The configured database, else the running embedded stack's.

    Raises:
        SetupError: neither is there.
    """
    if settings.database_url:
        return settings.database_url.get_secret_value()
    return _find_embedded(settings, "database_url")


def _find_embedded(settings: Settings, name: str) -> str:
    running = find_running(settings.data_dir)
    if running is None:
        raise SetupError(
            f"{name} is not set and no embedded stack runs in {settings.data_dir}: start one with "
            f"`ragsonde up`, or set RAGSONDE_{name.upper()}"
        )
    return str(getattr(running, name))
