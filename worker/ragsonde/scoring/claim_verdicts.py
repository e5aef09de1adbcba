"""Claims and statements of an answer or a reference in a recorded assessment, each with a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragsonde.scoring.faults import refuse
from ragsonde.scoring.options import describe
from ragsonde.scoring.verdict_numbers import TraceNumbers, read_number, show_number
from ragsonde.scoring.verdict_words import read_certainty, read_flag, read_text
from ragsonde_schemas.assessment import (
    AnswerStatementVerdict,
    Aspect,
    ClaimVerdict,
    Fault,
    ReferenceStatementVerdict,
)
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from collections.abc import Callable

_CERTAIN_WORDS = "yes, no or unsure"


def read_claims(raw: Mapping[str, object], numbers: TraceNumbers) -> tuple[ClaimVerdict, ...] | Fault | None:
    """The claims of the answer, each once; none is an answer that claims nothing."""
    return _read_list(
        raw.get(Aspect.CLAIMS),
        read=lambda item, text: _read_claim(item, text, numbers=numbers),
        verdict_of=lambda claim: claim.supported,
    )


def read_answer_statements(
    raw: Mapping[str, object], _numbers: TraceNumbers
) -> tuple[AnswerStatementVerdict, ...] | Fault | None:
    """The statements of the answer, each once."""
    return _read_list(
        raw.get(Aspect.ANSWER_STATEMENTS),
        read=_read_answer_statement,
        verdict_of=lambda statement: statement.relevant,
    )


def read_reference_statements(
    raw: Mapping[str, object], _numbers: TraceNumbers
) -> tuple[ReferenceStatementVerdict, ...] | Fault | None:
    """The statements of the reference, each once."""
    return _read_list(
        raw.get(Aspect.REFERENCE_STATEMENTS),
        read=_read_reference_statement,
        verdict_of=lambda statement: statement.attributed,
    )


def _read_list(
    items: object,
    *,
    read: Callable[[Mapping[Any, Any], str], Any],
    verdict_of: Callable[[Any], object],
) -> tuple[Any, ...] | Fault | None:
    """What `read` makes of each object; repeats of a text collapse, unless their verdicts contradict."""
    if items is None:
        return None
    if not isinstance(items, list | tuple):
        return refuse(items, expected="a list of objects with `text`")
    kept: dict[str, Any] = {}
    for item in items:
        found = _read_item(item, read=read)
        if isinstance(found, Fault):
            return found
        first = kept.setdefault(found.text.casefold(), found)
        if verdict_of(first) != verdict_of(found):
            return Fault(cause=Cause.VERDICT_MISMATCH, message="the same text has contradicting verdicts")
    return tuple(kept.values())


def _read_item(item: object, *, read: Callable[[Mapping[Any, Any], str], Any]) -> Any:  # noqa: ANN401 - one of three
    if not isinstance(item, Mapping):
        return refuse(item, expected="an object with `text`")
    text = read_text(item.get("text"))
    return refuse(item.get("text"), expected="a `text` in each object") if text is None else read(item, text)


def _read_claim(item: Mapping[Any, Any], text: str, *, numbers: TraceNumbers) -> ClaimVerdict | Fault:
    supported = read_certainty(item.get("supported"))
    if supported is None:
        return refuse(item.get("supported"), expected=f"{_CERTAIN_WORDS} for `supported` of each claim")
    named = item.get("contexts")
    if named is None:
        named = ()
    if not isinstance(named, list | tuple):
        return refuse(named, expected="a list of context numbers for `contexts` of each claim")
    known = [read_number(number) for number in named]
    for number, written in zip(known, named, strict=True):
        if number is None or number not in numbers.contexts:
            name = describe(written) if number is None else show_number(number)
            return Fault(cause=Cause.VERDICT_MISMATCH, message=f"no context has the number {name}")
    chosen = tuple(number for number in numbers.contexts if number in known and number in numbers.judged)
    return ClaimVerdict(text=text, supported=supported, contexts=chosen)


def _read_answer_statement(item: Mapping[Any, Any], text: str) -> AnswerStatementVerdict | Fault:
    relevant = read_certainty(item.get("relevant"))
    if relevant is None:
        return refuse(item.get("relevant"), expected=f"{_CERTAIN_WORDS} for `relevant` of each statement")
    return AnswerStatementVerdict(text=text, relevant=relevant)


def _read_reference_statement(item: Mapping[Any, Any], text: str) -> ReferenceStatementVerdict | Fault:
    attributed = read_flag(item.get("attributed"))
    if attributed is None:
        return refuse(item.get("attributed"), expected="yes or no for `attributed` of each statement")
    return ReferenceStatementVerdict(text=text, attributed=attributed)
