"""Waitress's parser, told what to keep: refusals at the head, a cap on chunked bodies, a deadline for all.

A body that is refused is read on and dropped, within bounds: a client that is still sending when the
connection closes sees a reset and never learns why.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ragsonde.receiver.answers import Answer, refuse
from ragsonde.receiver.application import write_status_line
from ragsonde.receiver.malformed import (
    ForeignProtocolError,
    explain,
    find_framing_fault,
    require_http,
    translate,
)
from ragsonde.receiver.requests import RequestHead
from ragsonde.web.timed_parser import TimedParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.receiver.exchange_log import ExchangeLog
    from ragsonde.receiver.gate import Gate

REQUEST_SECONDS = 30.0
"""For the whole request to arrive."""
_DRAINED_BYTES = 64 * 1024 * 1024
"""Read of a refused body, at most."""
_CHUNK_LINE_BYTES = 1024
_TRAILER_BYTES = 16 * 1024
_WIRE_FACTOR = 2
"""Chunks of at least a few bytes take no more with their sizes."""
_UNREAD = RequestHead(method="", path="")


@dataclass(frozen=True, kw_only=True)
class Reception:
    """How requests are read.

    Attributes:
        gate: decides at the head.
        log: where refusals are noted.
        request_seconds: for the whole request to arrive.
    """

    gate: Gate
    log: ExchangeLog
    request_seconds: float = REQUEST_SECONDS


class Refusal:
    """A request that is answered without the application, in the way Waitress asks for it."""

    def __init__(self, head: RequestHead, answer: Answer, *, log: ExchangeLog, begun_at: float) -> None:
        self.answer = answer
        self._head, self._log, self._begun_at = head, log, begun_at

    def to_response(self, _ident: str | None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Status line, headers and body; called once, when the answer is sent."""
        self._log.note(self._head, self.answer, seconds=time.monotonic() - self._begun_at)
        return write_status_line(self.answer.status), self.answer.list_headers(), self.answer.body


class RequestParser(TimedParser):
    """Collects one request, or finds why it is refused."""

    def __init__(
        self, adj: object, *, reception: Reception, client: str, is_busy: Callable[[], bool]
    ) -> None:
        super().__init__(adj, request_seconds=reception.request_seconds)
        self.error: Any = None
        self._is_busy = is_busy
        self._reception = reception
        self._client = client
        self._head = _UNREAD
        self._refusal: Refusal | None = None

    def received(self, data: bytes) -> int:
        """How many of the bytes belong to this request; `completed` and `error` say the rest."""
        was_in_body = self.headers_finished
        consumed = self._read(data)
        if self.error is not None and not isinstance(self.error, Refusal):
            # Waitress itself found the request malformed
            self._refuse(HTTPStatus(self.error.code), translate(self.error.body))
        elif self.headers_finished and not was_in_body and not self.empty:
            self._examine_head()
        elif was_in_body:
            self._watch_body()
        if self.is_late and not self.completed:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, self._describe_delay())
            self._complete()
        if self.completed and self._refusal is not None:
            self.error = self._refusal  # its answer is the last: what follows on the connection is dropped
        return consumed

    def _read(self, data: bytes) -> int:
        try:
            if not self.header_bytes_received:
                require_http(data)
            return int(super().received(data))
        except ForeignProtocolError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        except ValueError:  # a Content-Length of thousands of digits
            self._refuse(HTTPStatus.BAD_REQUEST, explain("a number of too many digits in the head"))
        self._complete()
        return len(data)

    def _examine_head(self) -> None:
        self._head = self._read_head()
        fault = find_framing_fault(
            is_chunked=self.chunked,
            has_length="CONTENT_LENGTH" in self.headers,
            has_unread_coding="TRANSFER_ENCODING" in self.headers,  # left there by versions other than 1.1
        )
        if fault is not None:
            self._refuse(HTTPStatus.BAD_REQUEST, fault)
            self._complete()
            return
        answer = self._reception.gate.find_refusal(self._head, is_busy=self._is_busy())
        if answer is not None:
            self._drain(answer)

    def _read_head(self) -> RequestHead:
        return RequestHead(
            method=self.command,
            path=self.path,
            headers={name.replace("_", "-").lower(): value for name, value in self.headers.items()},
            body_bytes=self.content_length if "CONTENT_LENGTH" in self.headers and not self.chunked else None,
            is_chunked=self.chunked,
            client=self._client,
        )

    def _watch_body(self) -> None:
        if self.chunked:
            self._watch_chunks()
        if self._refusal is not None and self.body_bytes_received > _DRAINED_BYTES:
            self._complete()

    def _watch_chunks(self) -> None:
        """Refuses a chunk by the size that it announces, before it comes, and what only costs time."""
        gate, body = self._reception.gate, self.body_rcv
        if len(body.control_line) > _CHUNK_LINE_BYTES or len(body.trailer) > _TRAILER_BYTES:
            self._refuse(HTTPStatus.BAD_REQUEST, explain("a chunk's size or a trailer that does not end"))
            self._complete()
        elif body.chunk_remainder > _DRAINED_BYTES:
            if self._refusal is None:
                self._drain(gate.refuse_size(self._head, found="a chunk of more bytes"))
            self._complete()
        elif self._refusal is None:
            if len(body) + body.chunk_remainder > gate.max_body_bytes:
                self._drain(gate.refuse_size(self._head, found=f"more than {gate.max_body_bytes} bytes"))
            elif self.body_bytes_received > _WIRE_FACTOR * gate.max_body_bytes + _CHUNK_LINE_BYTES:
                self._drain(gate.refuse_size(self._head, found="many small chunks, with their sizes more"))

    def _describe_delay(self) -> str:
        seconds = f"{self.request_seconds:g} s"
        found = f"a body of {self.body_bytes_received} bytes" if self.headers_finished else "a part of a head"
        return f"found {found} after {seconds}, expected the whole request; send it again, or less at once"

    def _drain(self, answer: Answer) -> None:
        """Refuses the request; what comes of its body goes nowhere."""
        self._refusal = self._make_refusal(answer)
        # who waits to be told to continue has not sent it, and what is larger is not worth the wait
        if self.expect_continue or self.content_length > _DRAINED_BYTES:
            self._complete()
        elif self.body_rcv is not None:
            self.body_rcv.getbuf().close()
            self.body_rcv.buf = _Nowhere()

    def _refuse(self, status: HTTPStatus, problem: str) -> None:
        """Keeps the refusal that is there: the first is the reason."""
        if self._refusal is None:
            self._refusal = self._make_refusal(refuse(self._head.form, status, problem))

    def _make_refusal(self, answer: Answer) -> Refusal:
        return Refusal(self._head, answer, log=self._reception.log, begun_at=self.begun_at)

    def _complete(self) -> None:
        self.expect_continue = False
        self.completed = True
        self.error = self._refusal


class _Nowhere:
    """Takes bytes and keeps none."""

    def append(self, data: bytes) -> None:
        """Drops them."""

    def close(self) -> None:
        """Nothing was opened."""

    def getfile(self) -> BytesIO:
        """An empty file: a refused request has no body."""
        return BytesIO()

    def __len__(self) -> int:
        return 0
