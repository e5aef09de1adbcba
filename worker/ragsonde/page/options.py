"""What is configured for the page."""

from __future__ import annotations

import ipaddress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from ragsonde_schemas.token import Token
from ragsonde_schemas.value import Value

TOKEN_CHARACTERS = 16
"""The fewest that a token of the page may have: who guesses is stopped by nothing else."""


class PageAuth(StrEnum):
    """How a person shows that she may read the page."""

    NONE = "none"
    TOKEN = "token"  # noqa: S105 - the name of a way, no secret
    PROXY_HEADER = "proxy_header"


def _check_address(text: str) -> str:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        raise ValueError(
            f"found {text}, which is neither an address nor a network; expected such as 10.0.0.0/24"
        ) from None
    return text


class PageOptions(Value):
    """Who may read the page.

    Attributes:
        auth: `none`: everybody who reaches it; `token`: who knows the token, kept as a cookie;
            `proxy_header`: who comes through one of `proxies`, which has named the person in `header`.
        token_file: read anew for every request, so that the token may be replaced while the monitor runs.
    """

    auth: PageAuth = Field(default=PageAuth.NONE, description="how people show that they may read it")
    token: Token = Field(default=None, description="what people type in once, where auth is `token`")
    token_file: Path | None = Field(default=None, description="a file that holds token")
    header: str = Field(
        default="X-Forwarded-User",
        pattern=r"^[A-Za-z][A-Za-z0-9-]*$",
        description="header in which a proxy names the person, where auth is `proxy_header`",
    )
    proxies: tuple[Annotated[str, AfterValidator(_check_address)], ...] = Field(
        default=("127.0.0.1", "::1"), min_length=1, description="addresses or networks of those proxies"
    )

    @model_validator(mode="after")
    def _keep_one_source(self) -> Self:
        if self.token is not None and self.token_file is not None:
            raise ValueError("token_file: token is given too; keep one of them")
        has_token = self.token is not None or self.token_file is not None
        if self.auth is PageAuth.TOKEN and not has_token:
            raise ValueError("auth: found token, but no token; set page.token_file or RAGSONDE_PAGE__TOKEN")
        if self.auth is not PageAuth.TOKEN and has_token:
            raise ValueError(f"token: given, but auth is {self.auth}, which asks for none; set auth: token")
        if self.token is not None and len(self.token.get_secret_value()) < TOKEN_CHARACTERS:
            raise ValueError(
                f"token: found {len(self.token.get_secret_value())} characters, expected at least "
                f"{TOKEN_CHARACTERS}; make one with `openssl rand -hex 16`"
            )
        return self


class MetricsOptions(Value):
    """Who may scrape the workers' and the monitor's series.

    Attributes:
        token_file: read anew for every request.
    """

    token: Token = Field(default=None, description="bearer token that a scraper must show")
    token_file: Path | None = Field(default=None, description="a file that holds token")

    @property
    def asks_for_token(self) -> bool:
        """True when scrapers must show a token."""
        return self.token is not None or self.token_file is not None

    @model_validator(mode="after")
    def _keep_one_source(self) -> Self:
        if self.token is not None and self.token_file is not None:
            raise ValueError("token_file: token is given too; keep one of them")
        return self


class Links(Value):
    """Where people go on from the page."""

    trace: str | None = Field(
        default=None,
        pattern=r"^https?://\S*\{trace_id\}\S*$",
        description="URL of a trace in your tracing tool, with {trace_id} where its id stands",
    )
    runbook: str | None = Field(
        default=None,
        pattern=r"^https?://\S*\{alert\}\S*$",
        description="URL of an alert's runbook, with {alert} where its name stands",
    )
