"""Bearer tokens: how they may look, and whether a request shows the right one."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from ragsonde_schemas.value import Value


def _check_token(token: SecretStr | None) -> SecretStr | None:
    if token is None:
        return None
    text = token.get_secret_value()
    if not text or not all("!" <= character <= "~" for character in text):
        raise ValueError("found an empty token or one with blanks or other characters than ASCII's")
    return token


Token = Annotated[SecretStr | None, AfterValidator(_check_token)]
"""Visible ASCII characters, as they go into a header; None: no token is asked for."""


class TokenSource(Value):
    """Where a token stands.

    Attributes:
        token_file: read anew for every request, so that the token may be replaced while the process runs.
    """

    token: Token = Field(default=None, description="bearer token that must be shown")
    token_file: Path | None = Field(default=None, description="a file that holds token")

    @property
    def asks_for_token(self) -> bool:
        """True when a token must be shown."""
        return self.token is not None or self.token_file is not None

    @model_validator(mode="after")
    def _keep_one_source(self) -> Self:
        if self.token is not None and self.token_file is not None:
            raise ValueError("token_file: token is given too; keep one of them")
        return self


def is_same_token(shown: str, token: str) -> bool:
    """True when two tokens are equal; it takes a time that does not tell how much of them is."""
    return hmac.compare_digest(shown.encode("utf-8", "replace"), token.encode())


def shows_token(authorization: str, *, token: str) -> bool:
    """True when an Authorization header, read as latin-1, is `Bearer` with this token (RFC 6750)."""
    scheme, _, shown = authorization.partition(" ")
    return is_same_token(shown.strip(), token) and scheme.lower() == "bearer"
