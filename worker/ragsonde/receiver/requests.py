"""A request as the receiver sees it, apart from the server that read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragsonde.receiver.answers import Form, choose_form

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHead:
    """What is known of a request before its body comes.

    Attributes:
        method: as sent, in capitals.
        path: decoded, without the query.
        headers: by name in small letters.
        body_bytes: as Content-Length says; None where it says nothing.
        is_chunked: the body comes in chunks, its size is known at its end.
        client: the address it comes from.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body_bytes: int | None = None
    is_chunked: bool = False
    client: str = ""

    @property
    def form(self) -> Form:
        """How the body of an answer is to be written."""
        return choose_form(self.path, content_type=self.content_type)

    @property
    def content_type(self) -> str:
        """As the client named it; '' where it did not."""
        return self.headers.get("content-type", "")

    @property
    def content_encoding(self) -> str:
        """As the client named it; '' where it did not."""
        return self.headers.get("content-encoding", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, whole."""

    head: RequestHead
    body: bytes
