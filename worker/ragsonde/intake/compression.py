"""Bodies are taken as they come: nothing is decompressed before its size is known."""

from __future__ import annotations

from kombu import compression


class CompressedBodyError(ValueError):
    """A producer's `compression` header asks kombu to decompress; the body is kept as it is."""


def refuse_compressed_bodies() -> None:
    """Keeps kombu from decompressing what a header says is compressed, in this process.

    It would do so in the loop's thread and without a limit: a message of 1 MiB can become 1 GiB. The body is
    left as it was published, and the decoder refuses it by name.
    """
    for content_type in compression.encoders():
        encoder, _ = compression.get_encoder(content_type)
        compression.register(encoder, _refuse, content_type)


def _refuse(_body: bytes) -> bytes:
    raise CompressedBodyError("compressed bodies are not taken")
