"""`POST /v1/traces`: an OTLP/HTTP export, answered as the OTLP specification asks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from ragsonde.receiver.advice import describe_fault
from ragsonde.receiver.answers import (
    JSON_TYPE,
    PROTOBUF_TYPE,
    TRACES_PATH,
    Answer,
    Form,
    name_retry,
    name_type,
    refuse,
)
from ragsonde.receiver.otlp_wire import write_partial_success
from ragsonde.receiver.posted_body import choose_status, examine, unpack
from ragsonde.receiver.tally import Outcome
from ragsonde_schemas.errors import BrokerLostError, DecodeError, ParkReason

if TYPE_CHECKING:
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.receiver.publishing import TracePublisher
    from ragsonde.receiver.requests import Request
    from ragsonde.receiver.tally import Tally
    from ragsonde_schemas.decoded import Decoded

_OTLP_FORMATS = frozenset({"otlp_protobuf", "otlp_json"})
_SHORT_BYTES = 64
_EMPTY_EXPORTS = (b"{}", b'{"resourceSpans":[]}', b'{"resource_spans":[]}')


@dataclass(frozen=True, kw_only=True)
class OtlpTraces:
    """Takes exports: one request is one message on the queue, as it came."""

    publisher: TracePublisher
    tally: Tally
    limits: DecodingLimits

    def receive(self, request: Request) -> Answer:
        """200 once the broker has confirmed the message; spans that nobody can read are told as rejected."""
        form = request.head.form
        try:
            body, plain = unpack(request.body, encoding=request.head.content_encoding, limits=self.limits)
            if _is_empty(plain, form=form):
                return _accept(form)
            decoded = self._decode(body, content_type=name_type(request.head.content_type))
        except DecodeError as error:
            self.tally.count_messages(Outcome.REFUSED)
            return refuse(form, choose_status(error), describe_fault(error, request))
        if not decoded.spans and not decoded.records:
            return _accept(form)
        try:
            self.publisher.publish_trace(body, content_type=name_type(request.head.content_type))
        except BrokerLostError as error:
            self.tally.count_messages(Outcome.UNCONFIRMED)
            problem = f"not accepted, send it again: {error}"
            return refuse(form, HTTPStatus.SERVICE_UNAVAILABLE, problem, headers=name_retry())
        self.tally.count_messages(Outcome.ACCEPTED)
        return _accept(form, faults=decoded.faults)

    def _decode(self, body: bytes, *, content_type: str) -> Decoded:
        decoded = examine(body, content_type=content_type, limits=self.limits)
        if decoded.format not in _OTLP_FORMATS:
            message = f"found a message of format {decoded.format}, expected an OTLP traces export"
            raise DecodeError(ParkReason.UNKNOWN_FORMAT, f"{message}; POST it to {TRACES_PATH}")
        if decoded.faults and not decoded.spans and not decoded.records:
            raise decoded.faults[0]
        return decoded


def _is_empty(plain: bytes, *, form: Form) -> bool:
    """True for an export without any span: no byte in protobuf, {} or an empty list in JSON."""
    if form is Form.OTLP_PROTOBUF:
        return plain == b""
    return len(plain) < _SHORT_BYTES and b"".join(plain.split()) in _EMPTY_EXPORTS


def _accept(form: Form, *, faults: tuple[DecodeError, ...] = ()) -> Answer:
    message = f"{faults[0]} (and {len(faults) - 1} more)" if len(faults) > 1 else "".join(map(str, faults))
    if form is Form.OTLP_PROTOBUF:
        body = write_partial_success(len(faults), message) if faults else b""
        return Answer(HTTPStatus.OK, PROTOBUF_TYPE, body)
    told = {"partialSuccess": {"rejectedSpans": str(len(faults)), "errorMessage": message}} if faults else {}
    return Answer(HTTPStatus.OK, JSON_TYPE, json.dumps(told, ensure_ascii=False).encode())
