"""What is configured for the receiver."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from ragsonde_schemas.token import Token
from ragsonde_schemas.value import Value


class ReceiverOptions(Value):
    """Where the receiver listens and whom it listens to.

    Attributes:
        token: what clients show in `Authorization: Bearer`; None without a file either: nobody is asked.
        token_file: read anew for every request, so that the token may be replaced while the receiver runs.
    """

    host: str | None = Field(default=None, description="address that the receiver binds; none: as `host`")
    token: Token = Field(default=None, description="bearer token that its clients must show")
    token_file: Path | None = Field(default=None, description="a file that holds token")

    @property
    def asks_for_token(self) -> bool:
        """True when clients must show a token."""
        return self.token is not None or self.token_file is not None

    @model_validator(mode="after")
    def _keep_one_source(self) -> Self:
        if self.token is not None and self.token_file is not None:
            raise ValueError("token_file: token is given too; keep one of them")
        return self
