"""Findings as they may be kept: before contexts are numbered, the content is hashed and anybody judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragsonde.redaction.placeholders import count_placeholders, describe_counts
from ragsonde.redaction.user_ids import collect_users, hide_users, is_starred
from ragsonde.redaction.values import Rewriting, redact_value, rewrite
from ragsonde_schemas.errors import ExtractionError
from ragsonde_schemas.redaction import Replaced, add_counts
from ragsonde_schemas.trace import EvaluationWish, Reference, Turn

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings
    from ragsonde.ports import Redaction
    from ragsonde.redaction.privacy import Privacy

_PLAIN_TEXTS = (
    "query", "retrieval_query", "answer", "usage", "tags", "metadata", "extra", "warnings", "failure",
)  # fmt: skip
_NAMES = (
    "trace_id", "record_key", "event_id", "session_id", "app", "environment", "release", "variant", "model",
)  # fmt: skip
_WITHHELD: dict[str, Any] = {
    "query": None, "retrieval_query": None, "turns": (), "contexts": None, "answer": None, "reference": None,
    "usage": {}, "tags": (), "metadata": {}, "extra": {}, "warnings": (), "evidence": {}, "gap": None,
    "mapped_to_nothing": (), "wish": EvaluationWish(),
}  # fmt: skip


def protect_findings(found: Findings, privacy: Privacy) -> Replaced[Findings]:
    """Findings whose user is a pseudonym and whose texts are redacted, with a warning that tells what was.

    Where the user's function fails, nothing of the texts is kept: `failure` tells why, so that the trace is
    stored and its scores are error(extraction_failed).

    Raises:
        DatabaseLostError: the keys cannot be read.
    """
    hidden = hide_user(found, privacy)
    return Replaced(hidden, {}) if privacy.redaction is None else redact_findings(hidden, privacy.redaction)


def redact_findings(found: Findings, redaction: Redaction) -> Replaced[Findings]:
    """Findings whose texts are redacted; nothing of them where the user's function fails, and why."""
    try:
        return _redact(found, redaction)
    except ExtractionError as error:
        return Replaced(withhold_findings(found, str(error), redaction), {})


def hide_user(found: Findings, privacy: Privacy) -> Findings:
    """Findings that name their user by a pseudonym, in metadata, extra and tags too."""
    ring = privacy.user_keys.read()
    raw = (found.user_id or "").strip()
    if is_starred(raw):
        raw = ""
    known = {raw} if raw and not ring.is_pseudonym(raw) else set()
    loose = _gather_loose(found)
    known |= {one for one in collect_users(loose, others=privacy.user_id_names) if not ring.is_pseudonym(one)}
    if not known:
        return replace(found, user_id=raw or None) if raw != found.user_id else found
    kept = hide_users(loose, ring, others=privacy.user_id_names, known=known)
    contexts = found.contexts
    if contexts is not None:
        pairs = zip(contexts, kept["contexts"], strict=True)
        contexts = tuple(context._replace(metadata=metadata) for context, metadata in pairs)
    return replace(
        found,
        user_id=ring.hide(raw) if raw else None,
        metadata=kept["metadata"],
        extra=kept["extra"],
        tags=kept["tags"],
        contexts=contexts,
    )


def withhold_findings(found: Findings, failure: str, redaction: Redaction | None) -> Findings:
    """Findings of which only names, times and numbers are left, and why."""
    named = found if redaction is None else _redact_names(found, redaction).value
    claimed = None if isinstance(found.claimed_at, str) else found.claimed_at
    return replace(named, **_WITHHELD, claimed_at=claimed, failure=failure)


def _gather_loose(found: Findings) -> dict[str, Any]:
    contexts = None if found.contexts is None else [context.metadata for context in found.contexts]
    return {"metadata": found.metadata, "extra": found.extra, "tags": found.tags, "contexts": contexts}


def _redact(found: Findings, redaction: Redaction) -> Replaced[Findings]:
    texts = redact_value(_gather_texts(found), redaction)
    named = _redact_names(found, redaction)
    kept = _redact_wish(_rebuild(named.value, texts.value), redaction)
    shown = [*_list_texts(texts.value), *(getattr(named.value, name) or "" for name in _NAMES)]
    counts = count_placeholders(shown, kinds=redaction.kinds)
    if counts:
        kept = replace(kept, warnings=(*kept.warnings, f"redacted: {describe_counts(counts)}"))
    return Replaced(kept, add_counts(texts.counts, named.counts))


def _gather_texts(found: Findings) -> dict[str, Any]:
    reference = found.reference
    return {
        **{name: getattr(found, name) for name in _PLAIN_TEXTS},
        "claimed_at": found.claimed_at if isinstance(found.claimed_at, str) else None,
        "turns": [[turn.role, turn.content] for turn in found.turns],
        "contexts": None
        if found.contexts is None
        else [[context.content, context.source_uri, context.metadata] for context in found.contexts],
        "reference": None if reference is None else [reference.answer, reference.contexts],
    }


def _rebuild(found: Findings, kept: dict[str, Any]) -> Findings:
    contexts = found.contexts
    if contexts is not None:
        contexts = tuple(
            context._replace(content=content, source_uri=source_uri, metadata=metadata)
            for context, (content, source_uri, metadata) in zip(contexts, kept["contexts"], strict=True)
        )
    reference = found.reference
    if reference is not None:
        answer, texts = kept["reference"]
        reference = Reference(answer=answer, contexts=texts, context_ids=reference.context_ids)
    return replace(
        found,
        **{name: kept[name] for name in _PLAIN_TEXTS},
        claimed_at=kept["claimed_at"] if isinstance(found.claimed_at, str) else found.claimed_at,
        turns=tuple(Turn(role=role, content=content) for role, content in kept["turns"]),
        contexts=contexts,
        reference=reference,
    )


def _redact_names(found: Findings, redaction: Redaction) -> Replaced[Findings]:
    """Ids and labels: by patterns, and so that two that differ stay two."""
    names = [getattr(found, name) for name in _NAMES]
    ids = [context.id for context in found.contexts or ()]
    wanted = found.reference.context_ids if found.reference is not None else ()
    given = [one or "" for one in (*names, *ids, *wanted)]
    kept = redaction.replace_names(given)
    if list(kept.value) == given:
        return Replaced(found, {})
    new = [text or old for text, old in zip(kept.value, (*names, *ids, *wanted), strict=True)]
    labels: dict[str, Any] = dict(zip(_NAMES, new, strict=False))
    changed = replace(found, **labels)
    if found.contexts is not None:
        new_ids = new[len(names) : len(names) + len(ids)]
        pairs = zip(found.contexts, new_ids, strict=True)
        changed = replace(changed, contexts=tuple(context._replace(id=id_) for context, id_ in pairs))
    if found.reference is not None:
        context_ids = tuple(str(one) for one in new[len(names) + len(ids) :])
        reference = found.reference.model_copy(update={"context_ids": context_ids})
        changed = replace(changed, reference=reference)
    return Replaced(changed, kept.counts)


def _redact_wish(found: Findings, redaction: Redaction) -> Findings:
    """Scorers that a message asks for may have any name."""
    if not found.wish.scorers:
        return found
    scorers = redaction.replace_names(found.wish.scorers).value
    return replace(found, wish=found.wish.model_copy(update={"scorers": scorers}))


def _list_texts(value: object) -> list[str]:
    texts: list[str] = []
    rewrite(value, Rewriting(lambda text: texts.append(text) or text))  # type: ignore[func-returns-value]
    return texts
