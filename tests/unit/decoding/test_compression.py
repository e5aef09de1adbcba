import gzip
import json
import tracemalloc
import zlib
from time import process_time

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import find_refusal, wrap
from builders.spans import make_span, write_export
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.message import CONTENT_TYPE

NATIVE = json.dumps({"trace_id": "t", "query": "which tea? " * 50}).encode()
PROTOBUF = write_export(make_span(1))
MEBIBYTE = 1_048_576
COMPRESSORS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw deflate": lambda body: zlib.compress(body, wbits=-15),
    "zstd": zstandard.compress,
}
ENCODINGS = {"gzip": "gzip", "deflate": "deflate", "raw deflate": "deflate", "zstd": "zstd"}


def stream_zstd(*pieces):
    """A frame that does not say how long it is."""
    compressor = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return b"".join(compressor.compress(piece) for piece in pieces) + compressor.flush()


def refuse(body, reason, **options):
    with pytest.raises(DecodeError) as caught:
        decode(wrap(body, content_encoding=options.pop("encoding", None)), **options)
    assert caught.value.reason is reason
    return str(caught.value)


@pytest.mark.parametrize("body", [NATIVE, PROTOBUF], ids=["json", "protobuf"])
@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_compressed_body_reads_as_the_plain_one(name, body):
    compressed = COMPRESSORS[name](body)
    assert decode(wrap(body)) == decode(wrap(compressed, content_encoding=ENCODINGS[name]))
    if name in {"gzip", "zstd"}:
        assert decode(wrap(body)) == decode(wrap(compressed))


@pytest.mark.parametrize("content_type", [CONTENT_TYPE, "application/json", "application/gzip", "x/y"])
@pytest.mark.parametrize(
    "encoding", ["gzip", "GZIP", "identity, gzip", "zstd", "deflate", "br", "utf-8", None]
)
def test_the_bytes_are_trusted_more_than_the_headers(content_type, encoding):
    for body in (NATIVE, gzip.compress(NATIVE), zstandard.compress(NATIVE), b"\xef\xbb\xbf \n" + NATIVE):
        envelope = wrap(body, content_encoding=encoding, content_type=content_type)
        assert decode(wrap(NATIVE)).records == decode(envelope).records
    if content_type == "x/y":
        assert decode(wrap(PROTOBUF)) == decode(wrap(PROTOBUF, content_encoding=encoding))


def test_all_members_and_frames_are_read():
    halves = NATIVE[:100], NATIVE[100:]
    for body in (
        b"".join(map(gzip.compress, halves)),
        b"".join(map(gzip.compress, (*halves, b""))) + bytes(512),
        b"".join(map(zstandard.compress, halves)),
        stream_zstd(*halves),
    ):
        assert decode(wrap(NATIVE)).records == decode(wrap(body)).records


@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_stream_cut_anywhere_is_refused(name):
    compressed = COMPRESSORS[name](NATIVE)
    for length in range(4, len(compressed)):
        message = refuse(compressed[:length], ParkReason.INVALID_COMPRESSION, encoding=ENCODINGS[name])
        assert "truncated" in message


def test_a_zstd_frame_without_a_length_that_was_cut_is_refused():
    compressed = stream_zstd(NATIVE)
    for length in range(4, len(compressed)):
        assert "truncated" in refuse(compressed[:length], ParkReason.INVALID_COMPRESSION)


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
def test_what_follows_a_stream_is_refused(name):
    compressed = COMPRESSORS[name](NATIVE)
    refuse(compressed + b"more", ParkReason.INVALID_COMPRESSION, encoding=ENCODINGS[name])


def test_zeros_behind_gzip_are_padding_only_to_the_end():
    assert "follow behind" in refuse(gzip.compress(NATIVE) + b"\0\0x", ParkReason.INVALID_COMPRESSION)


@pytest.mark.parametrize("outer", ["gzip", "zstd"])
@pytest.mark.parametrize("inner", ["gzip", "zstd"])
def test_one_level_of_compression_is_read(outer, inner):
    body = COMPRESSORS[outer](COMPRESSORS[inner](NATIVE))
    assert f"found {inner} inside {outer}" in refuse(body, ParkReason.INVALID_COMPRESSION)


@pytest.mark.parametrize(
    ("body", "encoding", "found"),
    [
        (b"hello", "gzip", "the content encoding says gzip, found bytes that start with 68 65 6c 6c"),
        (b"hello", "x-gzip, identity", "says x-gzip"),
        (b"hello", "zstd", "says zstd"),
        (b"hello", "br", "found br compression, expected gzip, zstd, deflate or none"),
        (b"hello", "deflate", "the deflate stream is corrupt"),
        (b"\x1f\x8bhello", None, "the gzip stream is corrupt"),
        (b"\x28\xb5\x2f\xfdhello", None, "the zstd stream is corrupt"),
    ],
)
def test_a_body_in_no_readable_compression_is_refused_by_what_it_claims(body, encoding, found):
    assert found in refuse(body, ParkReason.INVALID_COMPRESSION, encoding=encoding)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_nothing_compressed_is_an_empty_body(name):
    for content in (b"", b" \n"):
        body = COMPRESSORS[name](content)
        assert "after" in refuse(body, ParkReason.EMPTY_BODY, encoding=ENCODINGS[name])


@pytest.mark.parametrize("name", COMPRESSORS)
def test_the_decompressed_size_is_limited_to_the_byte(name):
    body = COMPRESSORS[name](NATIVE)
    envelope = wrap(body, content_encoding=ENCODINGS[name])
    assert decode(envelope, limits=DecodingLimits(decompressed_bytes=len(NATIVE))).format == "native"
    limits = DecodingLimits(decompressed_bytes=len(NATIVE) - 1)
    message = refuse(body, ParkReason.OVERSIZE, encoding=ENCODINGS[name], limits=limits)
    assert f"decompressed to more than {len(NATIVE) - 1} bytes" in message


def make_gzip_bomb():
    """A gibibyte of zeros."""
    compressor = zlib.compressobj(9, wbits=31)
    zeros = bytes(MEBIBYTE)
    return b"".join(compressor.compress(zeros) for _ in range(1024)) + compressor.flush()


def make_zstd_bomb():
    return stream_zstd(*[bytes(MEBIBYTE)] * 1024)


def make_zstd_bomb_of_blocks():
    """Frames of as many blocks that repeat one byte as fit in: 128 KiB from four bytes each."""
    block = (1 << 1 | 131_072 << 3).to_bytes(3, "little") + b"{"
    return b"\x28\xb5\x2f\xfd\x00\x58" + block * 8192


@pytest.mark.parametrize("make", [make_gzip_bomb, make_zstd_bomb, make_zstd_bomb_of_blocks])
def test_a_bomb_is_refused_in_little_time_and_memory(make):
    body = make()
    limits = DecodingLimits(body_bytes=2 * MEBIBYTE)
    started = process_time()
    refuse(body, ParkReason.OVERSIZE, limits=limits)
    assert process_time() - started < 1
    tracemalloc.start()
    try:
        refuse(body, ParkReason.OVERSIZE, limits=limits)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * MEBIBYTE


def test_a_zstd_frame_that_asks_for_a_huge_window_is_refused():
    for exponent, reason in ((13, ParkReason.EMPTY_BODY), (14, ParkReason.INVALID_COMPRESSION)):
        # 1 KiB * 2 ** exponent: 8 and 16 MiB; one last block of no byte
        refuse(b"\x28\xb5\x2f\xfd\x00" + bytes([exponent << 3]) + b"\x01\x00\x00", reason)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_many_empty_members_are_refused_within_seconds(name):
    body = COMPRESSORS[name](b"") * 20_000
    started = process_time()
    message = refuse(body, ParkReason.INVALID_COMPRESSION, limits=DecodingLimits(body_bytes=len(body)))
    assert process_time() - started < 4
    assert "more than 10000" in message


@given(st.binary(max_size=200), st.sampled_from([b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\x78\x9c", b""]))
def test_any_bytes_in_any_encoding_are_read_or_refused(body, magic):
    for encoding in (None, "gzip", "zstd", "deflate", "br", ","):
        refusal = find_refusal(decode, wrap(magic + body, content_encoding=encoding))
        assert refusal is None or len(str(refusal)) < 1000


@given(st.sampled_from(sorted(COMPRESSORS)), st.data())
def test_a_damaged_stream_is_read_or_refused(name, data):
    body = bytearray(COMPRESSORS[name](NATIVE))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    refusal = find_refusal(decode, wrap(bytes(body), content_encoding=ENCODINGS[name]))
    assert refusal is None or str(refusal)
