"""The receiver as a WSGI application: whole requests in, answers out."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ragsonde.receiver.answers import Answer, refuse
from ragsonde.receiver.requests import Request, RequestHead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ragsonde.ports import PageAnswer
    from ragsonde.receiver.exchange_log import ExchangeLog

    StartResponse = Callable[[str, list[tuple[str, str]]], object]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Application:
    """Answers requests that the gate has let in.

    Attributes:
        receivers: what answers a POST, by path.
        pages: what answers a GET, by path; the argument is the Accept header.
        log: where every answer is noted.
    """

    receivers: Mapping[str, Callable[[Request], Answer]]
    pages: Mapping[str, Callable[[str], PageAnswer]]
    log: ExchangeLog

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """One answer, as WSGI (PEP 3333) defines it."""
        begun = time.monotonic()
        head = read_head(environ)
        try:
            answer = self._answer(head, environ)
        except Exception:
            # whatever it is, this request ends with it and no other
            logger.exception("request_failed", extra={"path": head.path})
            problem = "found a fault of ragsonde itself, expected none; report it, its log says more"
            answer = refuse(head.form, HTTPStatus.INTERNAL_SERVER_ERROR, problem)
        self.log.note(head, answer, seconds=time.monotonic() - begun)
        start_response(write_status_line(answer.status), answer.list_headers())
        return [answer.body if head.method != "HEAD" else b""]

    def _answer(self, head: RequestHead, environ: Mapping[str, Any]) -> Answer:
        page = self.pages.get(head.path)
        if page is not None:
            shown = page(head.headers.get("accept", ""))
            return Answer(HTTPStatus(shown.status), shown.content_type, shown.body)
        return self.receivers[head.path](Request(head=head, body=environ["wsgi.input"].read()))


def read_head(environ: Mapping[str, Any]) -> RequestHead:
    """The head of a request from its WSGI environment."""
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_") or name in {"CONTENT_TYPE", "CONTENT_LENGTH"}
    }
    length = headers.get("content-length", "")
    return RequestHead(
        method=environ["REQUEST_METHOD"],
        path=environ["PATH_INFO"],
        headers=headers,
        body_bytes=int(length) if length.isdigit() else None,
        client=environ.get("REMOTE_ADDR", ""),
    )


def write_status_line(status: HTTPStatus) -> str:
    """`503 Service Unavailable`."""
    return f"{status.value} {status.phrase}"
