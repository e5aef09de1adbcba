"""A place that something is sent to over HTTP: its URL, and what it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from ragsonde_schemas.token import TokenSource
from ragsonde_schemas.value import Value

WEBHOOK = "webhook"
"""What takes JSON by POST, as settings, series and logs name it."""


class HttpPlace(Value):
    """Where something is sent to; secrets stand in files."""

    url: str | None = Field(default=None, description="where it is; without any secret")
    url_file: Path | None = Field(default=None, description="a file that holds url, where that is a secret")
    headers_file: Path | None = Field(
        default=None, description="a file of lines `Name: value`, read anew for every request"
    )
    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = Field(
        default=10.0, description="for one request as a whole"
    )

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if (self.url is None) == (self.url_file is None):
            raise ValueError("url: needs either `url` or `url_file`")
        problem = None if self.url is None else find_shown_url_problem(self.url)
        if problem is not None:
            raise ValueError(f"url: {problem}")
        return self


class TokenPlace(HttpPlace, TokenSource):
    """A place that asks for a token."""


def find_url_problem(url: str) -> str | None:
    """Why nothing can be posted to a URL, None where it can; the URL is not repeated."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "is no URL; expected one like https://collector.example/path"
    if parts.scheme not in {"http", "https"} or not has_host:
        return "found no http or https URL; expected one like https://collector.example/path"
    if not all("!" <= character <= "~" for character in url):
        return "holds blanks or other characters than ASCII's; expected those as %20, and a host as xn--..."
    try:
        (parts.hostname or "").encode("idna")
    except UnicodeError:
        return "its host has an empty part between dots, or one of more than 63 characters"
    return None


def find_shown_url_problem(url: str) -> str | None:
    """The same of a URL that stands in settings, which are shown."""
    problem = find_url_problem(url)
    if problem is None and "@" in urlsplit(url).netloc:
        return "holds a user or password, which does not belong into settings: use url_file"
    return problem
