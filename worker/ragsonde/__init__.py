"""Event-driven evaluation worker for production RAG traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde.api import evaluate, score
    from ragsonde_schemas.decoded_trace import DecodedTrace
    from ragsonde_schemas.trace import Context

__all__ = ["Context", "DecodedTrace", "evaluate", "score"]


def __getattr__(name: str) -> object:
    """What users import, loaded when first asked for: the worker needs none of it."""
    if name == "Context":
        from ragsonde_schemas.trace import Context  # noqa: PLC0415 - see above

        return Context
    if name == "DecodedTrace":
        from ragsonde_schemas.decoded_trace import DecodedTrace  # noqa: PLC0415 - see above

        return DecodedTrace
    if name in __all__:
        from ragsonde import api  # noqa: PLC0415 - see above

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
