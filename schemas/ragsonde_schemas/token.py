"""Bearer tokens: how they may look, and whether a request shows the right one."""

from __future__ import annotations

import hmac
from typing import Annotated

from pydantic import AfterValidator, SecretStr


def _check_token(token: SecretStr | None) -> SecretStr | None:
    if token is None:
        return None
    text = token.get_secret_value()
    if not text or not all("!" <= character <= "~" for character in text):
        raise ValueError("found an empty token or one with blanks or other characters than ASCII's")
    return token


Token = Annotated[SecretStr | None, AfterValidator(_check_token)]
"""Visible ASCII characters, as they go into a header; None: no token is asked for."""


def is_same_token(shown: str, token: str) -> bool:
    """True when two tokens are equal; it takes a time that does not tell how much of them is."""
    return hmac.compare_digest(shown.encode("utf-8", "replace"), token.encode())


def shows_token(authorization: str, *, token: str) -> bool:
    """True when an Authorization header, read as latin-1, is `Bearer` with this token (RFC 6750)."""
    scheme, _, shown = authorization.partition(" ")
    return is_same_token(shown.strip(), token) and scheme.lower() == "bearer"
