"""Assessments as they are recorded: what an LLM's reply is normalised to, and what people write into a file.

    {contexts: {"1": {relevant, supports?, level, used, reason?}, ...}, missing: [str],
     essential: ["1.2", ...], insufficient: bool, relevant_sentences: ["1.1", ...],
     statements?: [{context: "1", text, relevant, reason?}],
     claims?: [{text, supported: "yes|no|unsure", contexts?: ["1"]}],
     answer_statements?: [{text, relevant: "yes|no|unsure"}],
     reference_statements?: [{text, attributed}],
     rubrics?: {name: rating},
     sentences_shown?: ["1.1", ...], truncated?: bool, reason?: str}

`contexts` may also be a list of objects with `number`. An aspect that is not there is None; one that cannot
be used is a fault. Unknown keys are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ragsonde.scoring.claim_verdicts import (
    read_answer_statements,
    read_claims,
    read_reference_statements,
)
from ragsonde.scoring.context_verdicts import read_context_verdicts
from ragsonde.scoring.faults import refuse
from ragsonde.scoring.options import describe
from ragsonde.scoring.rubric_verdicts import read_rubrics
from ragsonde.scoring.verdict_numbers import TraceNumbers, read_number, show_number
from ragsonde.scoring.verdict_words import read_flag, read_text
from ragsonde_schemas.assessment import Aspect, Assessment, Fault, StatementVerdict
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde_schemas.trace import Trace

_EVERY_ASPECT = frozenset(Aspect)
_OF_SENTENCES = (Aspect.ESSENTIAL, Aspect.RELEVANT_SENTENCES)


def read_assessment(raw: object, trace: Trace, *, aspects: frozenset[Aspect] | None = None) -> Assessment:
    """The assessment that a recorded object holds; never raises for JSON-like input.

    Args:
        raw: a mapping; anything else is a fault in every aspect.
        trace: whose contexts and sentences the numbers name.
        aspects: the only ones to read, None for all.
    """
    asked = _EVERY_ASPECT if aspects is None else aspects
    if not isinstance(raw, Mapping):
        fault = refuse(raw, expected="an object")
        return Assessment(faults={aspect: fault for aspect in Aspect if aspect in asked})
    shown = _read_shown(raw.get("sentences_shown"), trace=trace)
    numbers = TraceNumbers(trace, shown=None if isinstance(shown, Fault) else shown)
    contexts, faults = read_context_verdicts(raw.get("contexts"), numbers=numbers, asked=asked)
    fields: dict[str, object] = {}
    for aspect, read in _READERS.items():
        if aspect in asked:
            found = shown if isinstance(shown, Fault) and aspect in _OF_SENTENCES else read(raw, numbers)
            if isinstance(found, Fault):
                faults[aspect] = found
            else:
                fields[aspect] = found
    if fields.get(Aspect.ESSENTIAL) is not None:
        fields["insufficient"] = bool(read_flag(raw.get("insufficient")))
    total = len(trace.sentences)
    return Assessment.model_validate(
        fields
        | {
            "contexts": contexts,
            "faults": faults,
            "reason": read_text(raw.get("reason")) or read_text(raw.get("why")),
            "sentences_shown": numbers.shown,
            "truncated": read_flag(raw.get("truncated")) or len(numbers.sentences) < total,
        }
    )


def _read_shown(items: object, *, trace: Trace) -> tuple[str, ...] | Fault | None:
    if items is None:
        return None
    shown = TraceNumbers(trace).expand(items)
    if isinstance(shown, Fault):
        return Fault(cause=shown.cause, message=f"sentences_shown: {shown.message}")
    return shown


def _read_missing(raw: Mapping[str, object], _numbers: TraceNumbers) -> tuple[str, ...] | Fault | None:
    """Missing items stripped, without blank ones and case-insensitive repeats."""
    items = raw.get("missing")
    if items is None:
        return None
    if not isinstance(items, list | tuple):
        return refuse(items, expected="a list of texts")
    kept: dict[str, str] = {}
    for item in items:
        if not isinstance(item, str):
            return refuse(item, expected="a text for each missing item")
        if text := read_text(item):
            kept.setdefault(text.casefold(), text)
    return tuple(kept.values())


def _read_essential(raw: Mapping[str, object], numbers: TraceNumbers) -> tuple[str, ...] | Fault | None:
    """The essential sentences; none where only `insufficient` is given and says yes."""
    items, flag = raw.get("essential"), raw.get("insufficient")
    is_insufficient = read_flag(flag)
    if flag is not None and is_insufficient is None:
        return refuse(flag, expected="yes or no for `insufficient`")
    if items is None:
        return () if is_insufficient else None
    return numbers.expand(items)


def _read_relevant_sentences(
    raw: Mapping[str, object], numbers: TraceNumbers
) -> tuple[str, ...] | Fault | None:
    items = raw.get("relevant_sentences")
    return None if items is None else numbers.expand(items)


def _read_statements(
    raw: Mapping[str, object], numbers: TraceNumbers
) -> tuple[StatementVerdict, ...] | Fault | None:
    """The statements, without those of blank contexts; a repeat in the same context counts once."""
    items = raw.get("statements")
    if items is None:
        return None
    if not isinstance(items, list | tuple):
        return refuse(items, expected="a list of statements")
    kept: dict[tuple[str | None, str], StatementVerdict] = {}
    for item in items:
        statement = _read_statement(item, numbers=numbers)
        if isinstance(statement, Fault):
            return statement
        if statement.context in numbers.blank:
            continue
        first = kept.setdefault((statement.context, statement.text.casefold()), statement)
        if first.relevant != statement.relevant:
            message = "statements: the same statement is both relevant and not"
            return Fault(cause=Cause.VERDICT_MISMATCH, message=message)
    if not kept and numbers.judged:
        return Fault(cause=Cause.NO_STATEMENTS, message="no statement of a context that is not blank")
    return tuple(kept.values())


def _read_statement(item: object, *, numbers: TraceNumbers) -> StatementVerdict | Fault:
    if not isinstance(item, Mapping):
        return refuse(item, expected="an object for each statement")
    text, relevant = read_text(item.get("text")), read_flag(item.get("relevant"))
    if text is None:
        return refuse(item.get("text"), expected="a `text` in each statement")
    if relevant is None:
        return refuse(item.get("relevant"), expected="yes or no for `relevant` of each statement")
    context = item.get("context")
    number = read_number(context)
    if context is not None and number not in numbers.contexts:
        name = describe(context) if number is None else show_number(number)
        message = f"statements: no context has the number {name}"
        return Fault(cause=Cause.VERDICT_MISMATCH, message=message)
    return StatementVerdict(
        context=number, text=text, relevant=relevant, reason=read_text(item.get("reason"))
    )


_Reader = Callable[[Mapping[str, object], TraceNumbers], object]
_READERS: dict[Aspect, _Reader] = {
    Aspect.MISSING: _read_missing,
    Aspect.ESSENTIAL: _read_essential,
    Aspect.RELEVANT_SENTENCES: _read_relevant_sentences,
    Aspect.STATEMENTS: _read_statements,
    Aspect.CLAIMS: read_claims,
    Aspect.ANSWER_STATEMENTS: read_answer_statements,
    Aspect.REFERENCE_STATEMENTS: read_reference_statements,
    Aspect.RUBRICS: read_rubrics,
}
