"""What a function of the user's is given: the fields found so far, and the tree behind them."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.mapping_tree import read_tree
from ragsonde_schemas.decoded_trace import DecodedTrace
from ragsonde_schemas.trace import Context

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings, FoundContext
    from ragsonde_schemas.decoded import Record


def build_decoded_trace(found: Findings, record: Record) -> DecodedTrace:
    """One record for a user's function; every call gives values of its own, so nothing is shared."""
    root = read_tree(record).root
    contexts = found.contexts
    return DecodedTrace(
        trace_id=found.trace_id,
        format=found.format,
        app=found.app or "",
        environment=found.environment or "",
        release=found.release or "",
        variant=found.variant or "",
        tags=found.tags,
        session_id=found.session_id,
        user_id=found.user_id,
        query=found.query,
        retrieval_query=found.retrieval_query,
        turns=found.turns,
        contexts=None if contexts is None else tuple(map(_describe_context, range(len(contexts)), contexts)),
        answer=found.answer,
        reference=found.reference.answer if found.reference else None,
        input=root["input"],
        output=root["output"],
        metadata=_read_object(root["metadata"]),
        attributes=_read_object(root["attributes"]),
        spans=tuple(span for span in _read_list(root["spans"]) if isinstance(span, dict)),
    )


def _describe_context(rank: int, context: FoundContext) -> Context:
    return Context(
        rank=rank,
        content=context.content or "",
        id=context.id,
        score=context.score,
        source_uri=context.source_uri,
        metadata=deepcopy(context.metadata or {}),
        origin=context.origin,
        retrieval_step=context.retrieval_step,
    )


def _read_object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _read_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
