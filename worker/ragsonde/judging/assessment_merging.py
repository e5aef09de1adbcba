"""One assessment from those of several calls, each about a part of the contexts.

What a split changes in their meaning:
    need   the sentences of all calls whose contexts suffice by themselves; where several do, they may be more
           than the fewest of the whole
    ins    only where every call says so: evidence that is spread over calls, so that none suffices alone,
           reads as insufficient
    miss   what every call names as missing, as far as the words are the same (case and punctuation aside):
           what one call lacks another may hold
    c, rel, st   about one context each: united
Claims and statements of the reference are supported where any call's contexts do; of the answer's
statements and the ratings, where the calls disagree, there is no one verdict.
A fault in any call is the aspect's fault for the whole trace: never a number from a part of the contexts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, Assessment, Certainty, Fault
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde_schemas.assessment import StatementVerdict

_PUNCTUATION = re.compile(r"[\W_]+")
_CERTAINTIES = (Certainty.YES, Certainty.UNSURE, Certainty.NO)

Merge = Callable[[Sequence[Any]], Any]


def merge_assessments(parts: Sequence[Assessment]) -> Assessment:
    """The verdicts of all calls as one; each context is in exactly one of them."""
    if len(parts) == 1:
        return parts[0]
    faults = {aspect: fault for part in reversed(parts) for aspect, fault in part.faults.items()}
    fields: dict[str, Any] = {"contexts": _unite_contexts(parts, faulty=faults.keys())}
    for aspect, merge in MERGES.items():
        values = [getattr(part, aspect) for part in _choose(parts, aspect)]
        if aspect in faults or None in values:
            continue
        merged = merge(values)
        if isinstance(merged, Fault):
            faults[aspect] = merged
        else:
            fields[aspect] = merged
    if fields.get(Aspect.ESSENTIAL) is not None:
        fields["insufficient"] = all(part.insufficient for part in parts)
    reasons = [part.reason for part in parts if part.reason]
    return Assessment(
        **fields,
        faults=dict(sorted(faults.items())),
        reason=" ".join(reasons) or None,
        answered_model=parts[-1].answered_model,
        calls=tuple(call for part in parts for call in part.calls),
    )


def _choose(parts: Sequence[Assessment], aspect: Aspect) -> Sequence[Assessment]:
    """Where some contexts suffice, only they say what is needed."""
    if aspect is not Aspect.ESSENTIAL:
        return parts
    return [part for part in parts if not part.insufficient] or parts


def _unite_contexts(parts: Sequence[Assessment], *, faulty: Any) -> dict[str, Any] | None:  # noqa: ANN401 - a set-like
    """Verdicts by number, without the aspects that any call got wrong."""
    cleared = {aspect.value: None for aspect in PER_CONTEXT if aspect in faulty}
    united: dict[str, Any] = {}
    for part in parts:
        for number, verdict in (part.contexts or {}).items():
            united.setdefault(number, verdict.model_copy(update=cleared))
    ordered = dict(sorted(united.items(), key=lambda item: int(item[0])))
    has_any = any(
        getattr(verdict, aspect) is not None for verdict in united.values() for aspect in PER_CONTEXT
    )
    return ordered if has_any else None


def _unite_sentences(values: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    numbers = {number for value in values for number in value}
    return tuple(sorted(numbers, key=lambda number: tuple(int(piece) for piece in number.split("."))))


def _unite_statements(values: Sequence[tuple[StatementVerdict, ...]]) -> tuple[StatementVerdict, ...] | Fault:
    kept: dict[tuple[str | None, str], StatementVerdict] = {}
    for statement in (statement for value in values for statement in value):
        first = kept.setdefault((statement.context, statement.text.casefold()), statement)
        if first.relevant != statement.relevant:
            return _disagree("the same statement is both relevant and not")
    return tuple(kept.values())


def _keep_missing_everywhere(values: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    first, *others = values
    named = [{_simplify(item) for item in other} for other in others]
    return tuple(item for item in first if all(_simplify(item) in other for other in named))


def _pair_by_text(values: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]] | Fault:
    """The verdicts of all calls about the same text; a fault where the calls found other texts."""
    tables = [{_simplify(item.text): item for item in value} for value in values]
    if any(table.keys() != tables[0].keys() for table in tables):
        return _disagree("the calls name different ones")
    return [tuple(table[text] for table in tables) for text in tables[0]]


def _merge_claims(values: Sequence[tuple[Any, ...]]) -> Any:  # noqa: ANN401 - claims or a fault
    pairs = _pair_by_text(values)
    if isinstance(pairs, Fault):
        return pairs
    merged = []
    for claims in pairs:
        supported = min((claim.supported for claim in claims), key=_CERTAINTIES.index)
        contexts = dict.fromkeys(number for claim in claims for number in claim.contexts)
        merged.append(
            claims[0].model_copy(
                update={"supported": supported, "contexts": tuple(sorted(contexts, key=int))}
            )
        )
    return tuple(merged)


def _merge_reference_statements(values: Sequence[tuple[Any, ...]]) -> Any:  # noqa: ANN401 - statements or a fault
    pairs = _pair_by_text(values)
    if isinstance(pairs, Fault):
        return pairs
    return tuple(
        given[0].model_copy(update={"attributed": any(statement.attributed for statement in given)})
        for given in pairs
    )


def _merge_answer_statements(values: Sequence[tuple[Any, ...]]) -> Any:  # noqa: ANN401 - statements or a fault
    pairs = _pair_by_text(values)
    if isinstance(pairs, Fault):
        return pairs
    if any(len({statement.relevant for statement in given}) > 1 for given in pairs):
        return _disagree("the calls judge the same statement differently")
    return values[0]


def _keep_agreed(values: Sequence[Any]) -> Any:  # noqa: ANN401 - ratings or a fault
    first, *others = values
    return first if all(other == first for other in others) else _disagree("the calls give different ratings")


def _disagree(message: str) -> Fault:
    return Fault(cause=Cause.VERDICT_MISMATCH, message=f"the contexts were judged in parts, and {message}")


def _simplify(text: str) -> str:
    return _PUNCTUATION.sub(" ", normalize("NFKC", text).casefold()).strip()


MERGES: dict[Aspect, Merge] = {
    Aspect.MISSING: _keep_missing_everywhere,
    Aspect.ESSENTIAL: _unite_sentences,
    Aspect.RELEVANT_SENTENCES: _unite_sentences,
    Aspect.STATEMENTS: _unite_statements,
    Aspect.CLAIMS: _merge_claims,
    Aspect.ANSWER_STATEMENTS: _merge_answer_statements,
    Aspect.REFERENCE_STATEMENTS: _merge_reference_statements,
    Aspect.RUBRICS: _keep_agreed,
}
"""For every aspect that is not about one context: one value from those of all calls, or a fault."""
