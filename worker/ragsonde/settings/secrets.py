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

HIDDEN = "****"

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


def build_token_reader(token: SecretStr | None, path: Path | None, *, key: str) -> Callable[[], str | None]:
    """Tells the token in force, from its file where there is one; None where none is asked for.

    Args:
        token: as configured.
        path: the file that holds it, read anew for every call, as it may be replaced.
        key: of the setting that names the file.

    Raises:
        ConfigError: the file cannot be read or is empty, now or when it is read again.
    """
    if path is None:
        return lambda: token.get_secret_value() if token else None
    read_secret(path, key=key)
    return lambda: read_secret(path, key=key).get_secret_value()


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
