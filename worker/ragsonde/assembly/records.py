"""Records from what one delivery held: native messages as they are, spans when they are one whole trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.openinference_contexts import has_retrieval
from ragsonde.extraction.span_tree import SpanTree
from ragsonde_schemas.decoded import Decoded, DecodedMessage, WholeTrace
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.span import Span

_NAMED_AT_MOST = 3


def gather_records(decoded: Decoded) -> tuple[DecodedMessage | WholeTrace, ...]:
    """What can be evaluated of a delivery: its messages, and its spans as one trace.

    Spans are one whole trace when they share a trace id, one of them is the root, every other one's parent
    is among them, and so is the retrieval (a span of OpenInference's kinds RETRIEVER or RERANKER).

    Raises:
        DecodeError: INCOMPLETE_TRACE that names what is missing.
    """
    if not decoded.spans:
        return decoded.messages
    _check_one_trace(decoded.spans)
    tree = SpanTree(decoded.spans)
    root = _find_root(tree)
    if not has_retrieval(tree):
        raise _miss(
            f"found no span of openinference.span.kind RETRIEVER or RERANKER among {len(tree.spans)} spans: "
            "the retrieval is missing, or comes in another message"
        )
    whole = WholeTrace(format=decoded.format, root=root, spans=tree.spans, warnings=decoded.warnings)
    return (*decoded.messages, whole)


def _check_one_trace(spans: Sequence[Span]) -> None:
    trace_ids = list(dict.fromkeys(span.trace_id for span in spans))
    if len(trace_ids) > 1:
        raise _miss(f"found spans of {len(trace_ids)} traces ({_name(trace_ids)}), expected those of one")


def _find_root(tree: SpanTree) -> Span:
    if tree.orphans:
        parents = list(dict.fromkeys(str(span.parent_span_id) for span in tree.orphans))
        kind = "a parent" if tree.roots else "the root, and a parent"
        raise _miss(
            f"{kind} is missing: {len(tree.orphans)} spans name parents that are not here ({_name(parents)})"
        )
    if not tree.roots:
        raise _miss(
            f"the root is missing: each of the {len(tree.spans)} spans names another one as its parent"
        )
    if len(tree.roots) > 1:
        ids = [span.span_id for span in tree.roots]
        raise _miss(f"found {len(ids)} root spans ({_name(ids)}), expected one root in a trace")
    return tree.roots[0]


def _name(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED_AT_MOST} more" if len(ids) > _NAMED_AT_MOST else ""
    return ", ".join(ids[:_NAMED_AT_MOST]) + more


def _miss(message: str) -> DecodeError:
    return DecodeError(ParkReason.INCOMPLETE_TRACE, message, where="spans")
