"""A migrated database with the roles of deploy/postgres/roles.sql, under names of their own."""

from __future__ import annotations

import re
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from psycopg.sql import SQL, Identifier, Literal
from sqlalchemy import make_url

from ragsonde.storage.migrations import migrate
from services.postgres import own_database

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = Path(__file__).parents[2] / "deploy" / "postgres" / "roles.sql"
ROLES = (
    "ragsonde_migrate",
    "ragsonde_monitor",
    "ragsonde_worker",
    "ragsonde_reader",
    "grafana",
    "ragsonde_owner",
)
_PASSWORD = "of-a-test"  # for servers that ask for one


class DeployedRoles(NamedTuple):
    """Who may log in where.

    Attributes:
        admin_url: of the superuser.
        suffix: that the roles' names have here; a role belongs to the whole server.
    """

    admin_url: str
    suffix: str

    def name(self, role: str) -> str:
        """The role's name here."""
        return f"{role}_{self.suffix}"

    def url(self, role: str) -> str:
        """Where a role logs in."""
        url = make_url(self.admin_url).set(username=self.name(role), password=_PASSWORD)
        return url.render_as_string(hide_password=False)

    def apply(self) -> None:
        """Runs the file, as its first lines tell."""
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            connection.execute(rename(FILE.read_text(), suffix=self.suffix))


def rename(statements: str, *, suffix: str) -> str:
    """The file's text for roles with a suffix."""
    return re.sub(rf"\b({'|'.join(ROLES)})\b", rf"\1_{suffix}", statements)


@contextmanager
def deployed_roles(server_url: str, *, migrates_first: bool = False) -> Iterator[DeployedRoles]:
    """The order of a first installation, or of one that has tables of the superuser's already."""
    suffix = uuid.uuid4().hex[:8]
    try:
        with own_database(server_url) as admin_url:
            roles = DeployedRoles(admin_url, suffix)
            if migrates_first:
                migrate(admin_url)
            roles.apply()
            _set_passwords(roles)
            if not migrates_first:
                migrate(roles.url("ragsonde_migrate"))
                roles.apply()
            yield roles
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            for role in ROLES:
                connection.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(f"{role}_{suffix}")))


def _set_passwords(roles: DeployedRoles) -> None:
    with psycopg.connect(roles.admin_url, autocommit=True) as connection:
        for role in ROLES[:-1]:
            statement = SQL("ALTER ROLE {} PASSWORD {}")
            connection.execute(statement.format(Identifier(roles.name(role)), Literal(_PASSWORD)))
