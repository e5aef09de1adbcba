"""Secrets: where they may stand, how they are read from files, how they are shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ragsonde_schemas.token import TokenSource

HIDDEN = "****"
TOKEN_CHARACTERS = 16
"""The fewest of a token by which people or scrapers are let in."""

_PORT = re.compile(r"[^/]*//(?:[^:/]*(?::[^@]*)?@)?(?:\[[^/?]*\]|[^/:?;]*)(?::([^/?;]*))?")
"""As the database's driver reads a URL: a password reaches to the first @ and may hold / # and ?."""
_LARGEST_PORT = 65535


def read_secret(path: Path, *, key: str) -> SecretStr:
    """The secret in a file, without blanks around it; read it again whenever it may have been replaced.

    Raises:
        ConfigError: the file cannot be read or is empty.
    """
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "no UTF-8"
        raise ConfigError(
            f"{key}: {path} cannot be read ({cause}); expected a file that holds the secret"
        ) from error
    if not text:
        raise ConfigError(f"{key}: {path} is empty; expected a file that holds the secret")
    return SecretStr(text)


def build_token_reader(source: TokenSource, *, key: str, fewest: int = 1) -> Callable[[], str | None]:
    """Tells the token in force, from its file where there is one; None where none is asked for.

    Args:
        source: where the token stands; a file is read anew for every call, as it may be replaced.
        key: of the setting that holds the source.
        fewest: characters that it must have.

    Raises:
        ConfigError: the token is too short, or its file cannot be read or holds none, now or later.
    """
    path = source.token_file
    if path is None:
        token = source.token.get_secret_value() if source.token is not None else None
        if token is not None:
            _require_token(token, key=f"{key}.token", fewest=fewest)
        return lambda: token

    def read() -> str:
        found = read_secret(path, key=f"{key}.token_file").get_secret_value()
        return _require_token(found, key=f"{key}.token_file", fewest=fewest)

    read()
    return read


def _require_token(token: str, *, key: str, fewest: int) -> str:
    if len(token) < fewest:
        raise ConfigError(
            f"{key}: found {len(token)} characters, expected at least {fewest}: nothing else stops who "
            "guesses; make one with `openssl rand -hex 16`"
        )
    if not all("!" <= character <= "~" for character in token):
        raise ConfigError(f"{key}: found blanks or other characters than ASCII's; expected visible ones")
    return token


def holds_password(url: str) -> bool:
    """True when a URL carries a password, before its host or among its parameters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    return bool(parts.password) or "password=" in parts.query.casefold()


def hide_password(url: str) -> str:
    """A URL that can be shown: scheme, user, host, port and path; its password and parameters are hidden."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return HIDDEN
    if not parts.scheme:
        return HIDDEN
    password = f":{HIDDEN}" if parts.password else ""
    user = f"{parts.username or ''}{password}@" if parts.username or parts.password else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    query = f"?{HIDDEN}" if parts.query else ""
    return f"{parts.scheme}://{user}{host}{port}{parts.path}{query}"


def has_valid_port(url: str) -> bool:
    """True when a URL names no port, or one from 1 to 65535; of several joined by `;` the first counts."""
    found = _PORT.match(url)
    port = found.group(1) if found else None
    if not port:
        return True
    return port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= _LARGEST_PORT
