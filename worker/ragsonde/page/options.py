"""What is configured for the page."""

from __future__ import annotations

import ipaddress
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from ragsonde_schemas.token import TokenSource
from ragsonde_schemas.value import Value


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


class PageOptions(TokenSource):
    """Who may read the page.

    Attributes:
        auth: `none`: everybody who reaches it; `token`: who knows the token, kept as a cookie;
            `proxy_header`: who comes through one of `proxies`, which has named the person in `header`.
        token: what people type in once.
    """

    auth: PageAuth = Field(default=PageAuth.NONE, description="how people show that they may read it")
    header: str = Field(
        default="X-Forwarded-User",
        pattern=r"^[A-Za-z][A-Za-z0-9-]*$",
        description="header in which a proxy names the person, where auth is `proxy_header`",
    )
    proxies: tuple[Annotated[str, AfterValidator(_check_address)], ...] = Field(
        default=("127.0.0.1", "::1"), min_length=1, description="addresses or networks of those proxies"
    )

    @model_validator(mode="after")
    def _ask_for_what_there_is(self) -> Self:
        if self.auth is PageAuth.TOKEN and not self.asks_for_token:
            raise ValueError("auth: found token, but no token; set page.token_file or RAGSONDE_PAGE__TOKEN")
        if self.auth is not PageAuth.TOKEN and self.asks_for_token:
            raise ValueError(f"token: given, but auth is {self.auth}, which asks for none; set auth: token")
        return self


class Links(Value):
    """Where people go on from the page."""

    trace: str | None = Field(
        default=None,
        pattern=r"^https?://\S*\{trace_id\}\S*$",
        description="URL of a trace in your tracing tool, with {trace_id} where its id stands",
    )
    page: Annotated[str | None, Field(pattern=r"^https?://[^\s?#]+$")] = Field(
        default=None, description="URL of the monitor's page as people reach it, for links in notices"
    )
    runbook: str | None = Field(
        default=None,
        pattern=r"^https?://\S*\{alert\}\S*$",
        description="URL of an alert's runbook, with {alert} where its name stands",
    )
