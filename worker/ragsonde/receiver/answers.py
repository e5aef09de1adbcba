"""What the receiver answers: the values, and how a refusal looks in the form that a client reads."""

from __future__ import annotations

import json
from enum import Enum
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.receiver.otlp_wire import write_status

if TYPE_CHECKING:
    from ragsonde.receiver.remarks import Remarks

OTLP_PATH = "/v1/traces"
TRACES_PATH = "/traces"
JSON_TYPE = "application/json"
PROTOBUF_TYPE = "application/x-protobuf"
RETRY_SECONDS = 5
"""What a client is asked to wait when the broker is away or its queue is full."""

Headers = tuple[tuple[str, str], ...]


class Form(Enum):
    """How the body of an answer is written."""

    OTLP_PROTOBUF = "otlp_protobuf"
    OTLP_JSON = "otlp_json"
    JSON = "json"


class Answer(NamedTuple):
    """One HTTP answer.

    Attributes:
        headers: besides Content-Type and Content-Length.
    """

    status: HTTPStatus
    content_type: str
    body: bytes
    headers: Headers = ()

    def list_headers(self) -> list[tuple[str, str]]:
        """All headers but those of the connection."""
        return [
            ("Content-Type", self.content_type),
            ("Content-Length", str(len(self.body))),
            ("X-Content-Type-Options", "nosniff"),
            *self.headers,
        ]


def name_type(content_type: str) -> str:
    """A media type without its parameters, in small letters."""
    return content_type.partition(";")[0].strip().lower()


def choose_form(path: str, *, content_type: str) -> Form:
    """The form a client of that path reads: OTLP in the encoding of its request, where it named one."""
    if path != OTLP_PATH:
        return Form.JSON
    return Form.OTLP_PROTOBUF if name_type(content_type) == PROTOBUF_TYPE else Form.OTLP_JSON


def refuse(form: Form, status: HTTPStatus, problem: str, *, headers: Headers = ()) -> Answer:
    """An answer that says what was wrong: google.rpc.Status towards OTLP, else `{"problem": ...}`."""
    if form is Form.OTLP_PROTOBUF:
        return Answer(status, PROTOBUF_TYPE, write_status(_find_code(status), problem), headers)
    if form is Form.OTLP_JSON:
        return _write_json(status, {"code": _find_code(status), "message": problem}, headers=headers)
    return _write_json(status, {"problem": problem}, headers=headers)


def report(
    status: HTTPStatus,
    *,
    accepted: int,
    refused: Remarks,
    warnings: Remarks,
    problem: str | None = None,
) -> Answer:
    """What became of the traces that were posted to `/traces`.

    Args:
        status: of the answer.
        accepted: messages that the broker has confirmed.
        refused: parts that nobody could read.
        warnings: what was mended or not used in the others; the answer is silent where there is nothing.
        problem: why the rest was not published, where the status is 503.
    """
    told: dict[str, object] = {"accepted": accepted, **refused.tell("refused")}
    if warnings.listed:
        told.update(warnings.tell("warnings"))
    if problem is not None:
        told["problem"] = problem
    headers = name_retry() if status is HTTPStatus.SERVICE_UNAVAILABLE else ()
    return _write_json(status, told, headers=headers)


def name_retry() -> Headers:
    """The header that tells when to come again."""
    return (("Retry-After", str(RETRY_SECONDS)),)


def _write_json(status: HTTPStatus, value: object, *, headers: Headers) -> Answer:
    return Answer(status, JSON_TYPE, json.dumps(value, ensure_ascii=False).encode() + b"\n", headers)


_CODES = {
    HTTPStatus.UNAUTHORIZED: 16,
    HTTPStatus.FORBIDDEN: 7,
    HTTPStatus.NOT_FOUND: 5,
    HTTPStatus.METHOD_NOT_ALLOWED: 12,
    HTTPStatus.REQUEST_TIMEOUT: 4,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: 8,
    HTTPStatus.INTERNAL_SERVER_ERROR: 13,
    HTTPStatus.NOT_IMPLEMENTED: 12,
    HTTPStatus.SERVICE_UNAVAILABLE: 14,
}
_INVALID_ARGUMENT = 3


def _find_code(status: HTTPStatus) -> int:
    """The number that google.rpc.Code has for it."""
    return _CODES.get(status, _INVALID_ARGUMENT)
