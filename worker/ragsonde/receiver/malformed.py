"""What is told to a client whose request is no HTTP/1.1: what was found, what was expected, what to do."""

from __future__ import annotations

from ragsonde_schemas.errors import RagsondeError

_TLS_HANDSHAKE = b"\x16\x03"
_HTTP2_PREFACE = b"PRI * HTTP/2"
_WORDS = {
    "Content-Length is invalid": "a Content-Length that is no number",
    "Transfer-Encoding requested is not supported.": "a Transfer-Encoding other than chunked",
    "Start line is invalid": "a first line that is no METHOD PATH HTTP/1.1",
    "HTTP message header invalid": "a first line that is no METHOD PATH HTTP/1.1",
    "Invalid header": "a header that is no NAME: VALUE",
    "Invalid chunk size": "a chunk whose size is no hexadecimal number",
    "Chunk not properly terminated": "a chunk that is longer than its size says",
}
"""Waitress's own sentences, in ours."""


class ForeignProtocolError(RagsondeError):
    """Bytes of another protocol than HTTP/1.1; its words are for the client."""


def explain(found: str) -> str:
    """The problem of a request that is malformed in this way."""
    return (
        f"found {found}, expected HTTP/1.1 as RFC 9112 defines it; correct the client, or a proxy before it"
    )


def translate(sentence: str) -> str:
    """The problem of a request that Waitress refuses with this sentence, which may repeat what was sent."""
    if sentence.startswith("exceeds max_header"):
        return "found headers of more than 16 KiB, expected less; send fewer or shorter ones"
    return explain(_WORDS.get(sentence, "a line that is broken"))


def find_framing_fault(*, is_chunked: bool, has_length: bool, has_unread_coding: bool) -> str | None:
    """What makes it unsure where the body ends; None where it is sure.

    A proxy that believes one header and a server that believes the other see different requests. RFC 9112,
    section 6.1, lets a server refuse both together, and wants a Transfer-Encoding refused before HTTP/1.1.
    """
    if is_chunked and has_length:
        return explain("both Content-Length and Transfer-Encoding: chunked")
    if has_unread_coding:
        return explain("a Transfer-Encoding in another version than HTTP/1.1")
    return None


def require_http(begin: bytes) -> None:
    """Looks at the first bytes of a request.

    Raises:
        ForeignProtocolError: they are those of TLS or HTTP/2.
    """
    if begin.startswith(_TLS_HANDSHAKE):
        raise ForeignProtocolError(
            "found a TLS handshake, expected plain HTTP; use http:// here, or put a proxy for TLS in front"
        )
    if begin.startswith(_HTTP2_PREFACE):
        raise ForeignProtocolError(
            "found HTTP/2, as gRPC uses it, expected HTTP/1.1; set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
        )
