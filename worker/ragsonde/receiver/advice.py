"""What a client is to do about a body that cannot be read, behind what its decoder found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.receiver.answers import name_type
from ragsonde_schemas.errors import ParkReason

if TYPE_CHECKING:
    from ragsonde.receiver.requests import Request
    from ragsonde_schemas.errors import DecodeError

_WAYS_OUT = {
    ParkReason.INVALID_JSON: "expected JSON by RFC 8259; correct this place and send it again",
    ParkReason.INVALID_UTF8: "expected JSON; is Content-Type that of the body?",
    ParkReason.INVALID_PROTOBUF: (
        "expected an OTLP traces export in protobuf; send it whole, as application/json where it is JSON"
    ),
}
_FORM_TYPE = "application/x-www-form-urlencoded"
_BROKEN_BY_CURL = frozenset(
    {
        ParkReason.INVALID_COMPRESSION,
        ParkReason.INVALID_JSON,
        ParkReason.INVALID_PROTOBUF,
        ParkReason.UNKNOWN_FORMAT,
    }
)
_CURL = "if curl -d sent it: that strips the ends of lines, use --data-binary"


def describe_fault(error: DecodeError, request: Request) -> str:
    """The decoder's words, with what was expected and what to do where they do not say so."""
    parts = [str(error)]
    if error.reason in _WAYS_OUT:
        parts.append(_WAYS_OUT[error.reason])
    is_form = name_type(request.head.content_type) == _FORM_TYPE
    if is_form and error.reason in _BROKEN_BY_CURL and b"\n" not in request.body:
        parts.append(_CURL)
    return "; ".join(parts)
