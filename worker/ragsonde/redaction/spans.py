"""Spans as they may be kept in the buffer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragsonde.redaction.placeholders import WITHHELD
from ragsonde.redaction.user_ids import collect_users, hide_users
from ragsonde.redaction.values import redact_value
from ragsonde_schemas.errors import ExtractionError
from ragsonde_schemas.redaction import Replaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde.redaction.privacy import Privacy
    from ragsonde_schemas.span import Span

FAILURE = "ragsonde.redaction.failure"
"""The attribute that tells why a span is stored without its texts."""

_STRUCTURE = re.compile(
    r"(?:.*[._])?(?:kind|type|span_?type|operation\.?id|operation\.name|service\.name|provider\.name|system)",
    re.IGNORECASE,
)
"""Attributes that tell what a span is, not what was said in it."""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")


def protect_spans(spans: Sequence[Span], privacy: Privacy) -> Replaced[tuple[Span, ...]]:
    """Spans whose users are pseudonyms and whose texts are redacted.

    Where the user's function fails they are stripped of their texts and carry `FAILURE`: the trace that they
    become is stored and its scores are error(extraction_failed).

    Raises:
        DatabaseLostError: the keys cannot be read.
    """
    ring = privacy.user_keys.read()
    trees: list[Any] = [_gather(span) for span in spans]
    known = {one for one in collect_users(trees, others=privacy.user_id_names) if not ring.is_pseudonym(one)}
    if known:
        trees = hide_users(trees, ring, others=privacy.user_id_names, known=known)
    if privacy.redaction is None:
        kept = tuple(map(_rebuild, spans, trees)) if known else tuple(spans)
        return Replaced(kept, {})
    try:
        redacted = redact_value(trees, privacy.redaction)
    except ExtractionError as error:
        return Replaced(tuple(_withhold(span, str(error)) for span in spans), {})
    return Replaced(tuple(map(_rebuild, spans, redacted.value)), redacted.counts)


def find_failure(spans: Iterable[Span]) -> str | None:
    """Why some of the spans are without their texts; None where all have theirs."""
    told = (span.attributes.get(FAILURE) for span in spans)
    return next((one for one in told if isinstance(one, str)), None)


def _gather(span: Span) -> list[Any]:
    events = [[event.name, event.attributes] for event in span.events]
    return [span.name, span.attributes, events, span.resource]


def _rebuild(span: Span, tree: list[Any]) -> Span:
    name, attributes, events, resource = tree
    return span._replace(
        name=name,
        attributes=attributes,
        events=tuple(
            event._replace(name=said, attributes=given)
            for event, (said, given) in zip(span.events, events, strict=True)
        ),
        resource=resource,
    )


def _withhold(span: Span, failure: str) -> Span:
    return span._replace(
        name=WITHHELD,
        attributes={**_keep_structure(span.attributes), FAILURE: failure},
        events=(),
        resource=_keep_structure(span.resource),
    )


def _keep_structure(attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in attributes.items()
        if isinstance(value, int | float)
        or (isinstance(value, str) and _STRUCTURE.fullmatch(name) and _WORD.fullmatch(value))
    }
