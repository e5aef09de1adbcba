"""What is configured for the receiver."""

from __future__ import annotations

from pydantic import Field

from ragsonde_schemas.token import TokenSource


class ReceiverOptions(TokenSource):
    """Where the receiver listens and whom it listens to: who shows the token; without one nobody is asked."""

    host: str | None = Field(default=None, description="address that the receiver binds; none: as `host`")
