"""Which requests are let in: decided at the head, before a byte of the body is kept."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from ragsonde.receiver.answers import (
    JSON_TYPE,
    OTLP_PATH,
    PROTOBUF_TYPE,
    RETRY_SECONDS,
    TRACES_PATH,
    Answer,
    name_retry,
    name_type,
    refuse,
)
from ragsonde.web.host_names import HostNames
from ragsonde_schemas.errors import RagsondeError
from ragsonde_schemas.token import shows_token

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ragsonde.receiver.answers import Headers
    from ragsonde.receiver.requests import RequestHead

logger = logging.getLogger(__name__)

POSTED_PATHS = (OTLP_PATH, TRACES_PATH)
_OPEN_PAGES = ("/health/live", "/health/ready")
"""Probes have no token; these pages tell no more than that something is well or not."""
_OTLP_TYPES = frozenset({PROTOBUF_TYPE, JSON_TYPE})
_ENCODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate", "zstd"})
_NO_LENGTH = (
    "found neither Content-Length nor Transfer-Encoding: chunked, expected one; send the body's length"
)
_PAGE_METHODS = ("GET", "HEAD")


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Lets requests in or says why not.

    Attributes:
        pages: paths that are read with GET.
        max_body_bytes: of a body as it is sent.
        read_token: the token that every client must show, read anew for each, as a file may be replaced;
            None: no token is asked for. Where it raises, nobody is let in.
        hosts: names under which pages are read where there is no token.
    """

    pages: Collection[str]
    max_body_bytes: int
    read_token: Callable[[], str | None]
    hosts: HostNames = field(default_factory=HostNames)

    def find_refusal(self, head: RequestHead, *, is_busy: bool = False) -> Answer | None:
        """The answer to a request that is not let in; None for one whose body may come.

        Args:
            head: what is known before the body.
            is_busy: so much waits already that nothing more should.
        """
        refusal = self._check_path(head) or self._check_client(head)
        if refusal is not None or head.path not in POSTED_PATHS:
            return refusal
        if is_busy:
            problem = f"found too many requests waiting, expected fewer; send it again in {RETRY_SECONDS} s"
            return _refuse(head, HTTPStatus.SERVICE_UNAVAILABLE, problem, headers=name_retry())
        return self._check_body(head)

    def _check_path(self, head: RequestHead) -> Answer | None:
        if head.path in POSTED_PATHS:
            allowed: tuple[str, ...] = ("POST",)
        elif head.path in self.pages:
            allowed = _PAGE_METHODS
        else:
            posted = f"POST {OTLP_PATH} for OTLP, POST {TRACES_PATH} for any known format"
            problem = f"found nothing at this path, expected {posted}, or GET {', GET '.join(self.pages)}"
            return _refuse(head, HTTPStatus.NOT_FOUND, problem)
        if head.method in allowed:
            return None
        problem = (
            f"found method {head.method[:20]}, expected {' or '.join(allowed)}; send that, or to another path"
        )
        return _refuse(head, HTTPStatus.METHOD_NOT_ALLOWED, problem, headers=(("Allow", ", ".join(allowed)),))

    def _check_client(self, head: RequestHead) -> Answer | None:
        if head.path in _OPEN_PAGES:
            return None
        try:
            token = self.read_token()
        except RagsondeError:
            problem = (
                "found no token that the receiver can read, expected one; its log tells its operator why"
            )
            # its words name a file, which is no business of a stranger's
            logger.exception("token_unreadable")
            return _refuse(head, HTTPStatus.SERVICE_UNAVAILABLE, problem)
        if token is not None:
            authorization = head.headers.get("authorization", "")
            return None if shows_token(authorization, token=token) else _ask_for_token(head)
        host = head.headers.get("host")
        if head.method != "POST" and not self.hosts.admits(host):
            return _refuse(head, HTTPStatus.MISDIRECTED_REQUEST, self.hosts.describe(host))
        if head.method == "POST" and "origin" in head.headers:
            # without a token, any page that is open in a browser on this machine could post here
            problem = (
                "found the header Origin: a web page sent this, and the receiver has no token; expected an "
                "application; set a token for the receiver to let pages post"
            )
            return _refuse(head, HTTPStatus.FORBIDDEN, problem)
        return None

    def _check_body(self, head: RequestHead) -> Answer | None:
        if head.body_bytes is None and not head.is_chunked:
            return _refuse(head, HTTPStatus.LENGTH_REQUIRED, _NO_LENGTH)
        if head.body_bytes is not None and head.body_bytes > self.max_body_bytes:
            return self.refuse_size(head, found=f"{head.body_bytes} bytes")
        return self._check_type(head)

    def _check_type(self, head: RequestHead) -> Answer | None:
        if head.path == OTLP_PATH and name_type(head.content_type) not in _OTLP_TYPES:
            found = f"content type {head.content_type[:100]}" if head.content_type else "no content type"
            problem = (
                f"found {found}, expected {PROTOBUF_TYPE} or {JSON_TYPE}; POST other formats to {TRACES_PATH}"
            )
            return _refuse(head, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, problem)
        if head.content_encoding.strip().lower() not in _ENCODINGS:
            problem = (
                f"found content encoding {head.content_encoding[:100]}, expected gzip, zstd, deflate or none"
            )
            accepted = (("Accept-Encoding", "gzip, zstd, deflate"),)
            return _refuse(head, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, problem, headers=accepted)
        return None

    def refuse_size(self, head: RequestHead, *, found: str) -> Answer:
        """The answer to a body that is too large."""
        problem = (
            f"found {found}, expected at most {self.max_body_bytes}; send fewer spans or traces at once, "
            "or raise max_body_bytes"
        )
        return _refuse(head, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, problem)


def _ask_for_token(head: RequestHead) -> Answer:
    found = "another token" if "authorization" in head.headers else "no token"
    problem = f"found {found}, expected the header Authorization: Bearer TOKEN with the receiver's token"
    challenge = (("WWW-Authenticate", 'Bearer realm="ragsonde"'),)
    return _refuse(head, HTTPStatus.UNAUTHORIZED, problem, headers=challenge)


def _refuse(head: RequestHead, status: HTTPStatus, problem: str, *, headers: Headers = ()) -> Answer:
    answer = refuse(head.form, status, problem, headers=headers)
    return answer._replace(body=b"") if head.method == "HEAD" else answer
