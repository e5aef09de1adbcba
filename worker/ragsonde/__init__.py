"""Event-driven evaluation worker for production RAG traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde.api import evaluate, score

__all__ = ["evaluate", "score"]


def __getattr__(name: str) -> object:
    """The functions of `ragsonde.api`, imported when first asked for: the worker needs none of them."""
    if name in __all__:
        from ragsonde import api  # noqa: PLC0415 - see above

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
