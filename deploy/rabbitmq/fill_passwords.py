# ruff: noqa: INP001  # a program, in no package
"""Writes RabbitMQ's definitions with the hashes of passwords that stand in files.

    fill_passwords.py definitions.json FILLED.json ragsonde=/run/secrets/rabbitmq_password ...

A user who is not named keeps an empty hash, with which nobody can log in.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SALT_BYTES = 4


def hash_password(password: str, *, salt: bytes) -> str:
    """Base64 of the salt and SHA-256 of salt and password, as `rabbit_password_hashing_sha256` keeps it."""
    return base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()


def fill(definitions: Mapping[str, Any], *, passwords: Mapping[str, str]) -> dict[str, Any]:
    """The definitions with a hash for each user that has a password.

    Raises:
        ValueError: a password is empty, or of a user who is not in the definitions.
    """
    names = {user["name"] for user in definitions["users"]}
    if unknown := sorted(passwords.keys() - names):
        raise ValueError(f"found the user {unknown[0]}, expected one of {', '.join(sorted(names))}")
    if empty := sorted(name for name, password in passwords.items() if not password):
        raise ValueError(f"found an empty password of {empty[0]}, expected a file that holds one")
    users = [
        {**user, "password_hash": hash_password(passwords[user["name"]], salt=os.urandom(_SALT_BYTES))}
        if user["name"] in passwords
        else user
        for user in definitions["users"]
    ]
    return {**definitions, "users": users}


def main(arguments: list[str]) -> int:
    """0; what is wrong is raised."""
    source, target, *named = arguments
    files = dict(one.split("=", 1) for one in named)
    passwords = {user: Path(file).read_text(encoding="utf-8").strip() for user, file in files.items()}
    filled = fill(json.loads(Path(source).read_text(encoding="utf-8")), passwords=passwords)
    Path(target).write_text(json.dumps(filled, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
