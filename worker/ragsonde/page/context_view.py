"""The contexts of a trace for people: each with what a judge said of it, and its sentences marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.page.marked_text import Piece, mark_sentences
from ragsonde.page.wording import drop_probability

if TYPE_CHECKING:
    from ragsonde_schemas.assessment import Assessment, ContextVerdict
    from ragsonde_schemas.trace import Context, Trace


@dataclass(frozen=True, kw_only=True)
class ContextView:
    """One context with what a judge said of it.

    Attributes:
        badges: words with a tone: (`relevant`, `good`).
    """

    number: str
    source: str
    badges: tuple[tuple[str, str], ...]
    reason: str
    pieces: tuple[Piece, ...]


def view_contexts(trace: Trace | None, assessment: Assessment | None) -> tuple[ContextView, ...] | None:
    """A view of each context in order; None where they are not known, or dropped with the texts."""
    if trace is None or trace.contexts is None:
        return None
    verdicts = (assessment.contexts if assessment is not None else None) or {}
    essential = frozenset(assessment.essential or ()) if assessment is not None else frozenset()
    relevant = frozenset(assessment.relevant_sentences or ()) if assessment is not None else frozenset()
    return tuple(
        ContextView(
            number=context.number,
            source=_describe_source(context),
            badges=_list_badges(verdicts.get(context.number)),
            reason=drop_probability(verdict.reason or "")
            if (verdict := verdicts.get(context.number)) is not None
            else "",
            pieces=mark_sentences(context.content, context.sentences, essential=essential, relevant=relevant),
        )
        for context in trace.contexts
    )


def _describe_source(context: Context) -> str:
    parts = [part for part in (context.id, context.source_uri) if part]
    if context.score is not None:
        parts.append(f"retrieval score {context.score:g}")
    return ", ".join(parts)


def _list_badges(verdict: ContextVerdict | None) -> tuple[tuple[str, str], ...]:
    if verdict is None:
        return ()
    badges: list[tuple[str, str]] = []
    if verdict.relevant is not None:
        badges.append(("relevant", "good") if verdict.relevant else ("not relevant", "bad"))
    if verdict.level is not None:
        badges.append((f"level {verdict.level.value}", "quiet"))
    if verdict.used is not None:
        badges.append(("used in the answer", "good") if verdict.used else ("not used", "quiet"))
    if verdict.supports is not None:
        supports = ("supports the reference", "good") if verdict.supports else ("no support", "bad")
        badges.append(supports)
    return tuple(badges)
