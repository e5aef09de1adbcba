"""A trace for people: what is judged, with its numbers, and where each field was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.rule import Rule

from ragsonde.cli.causes import MEANINGS
from ragsonde.cli.suspicions import describe_suspicions
from ragsonde.cli.terminal import make_console, make_table, show

if TYPE_CHECKING:
    from rich.table import Table

    from ragsonde_schemas.trace import Context, Trace

_INDENT = (0, 0, 0, 2)
_DEEPER = (0, 0, 0, 5)
_LABELS = ("app", "environment", "release", "variant", "session_id", "user_id", "model")


def print_card(trace: Trace, *, place: str, with_evidence: bool) -> None:
    """Prints a trace to standard output."""
    console = make_console()
    console.print(Rule(show(f"{trace.trace_id}  {place}", "bold"), align="left"))
    console.print(Padding(_list_fields(trace), _INDENT))
    for context in trace.contexts or ():
        console.print(Padding(show(_head(context), "bold"), _INDENT))
        for sentence in context.sentences:
            console.print(Padding(show(f"{sentence.number}  {sentence.text}"), _DEEPER))
    if trace.extraction.failure is not None:
        console.print(Padding(show(f"failed: {trace.extraction.failure}", "red"), _INDENT))
    if trace.extraction.re_retrieved:
        note = "searched again just now: these contexts measure today's index, not what the model saw"
        console.print(Padding(show(f"warning: {note}", "yellow"), _INDENT))
    if with_evidence:
        console.print(Padding(_list_evidence(trace), (1, 0, 0, 2)))
        for suspicion in describe_suspicions(trace.extraction):
            console.print(Padding(show(suspicion, "yellow"), _INDENT))
    for warning in trace.extraction.warnings:
        console.print(Padding(show(f"warning: {warning}", "yellow"), _INDENT))
    console.print()


def _list_fields(trace: Trace) -> Table:
    table = make_table("", "")
    table.show_header = False
    rows = [(name, getattr(trace, name)) for name in _LABELS]
    rows += [(f"turn: {turn.role}", turn.content) for turn in trace.turns]
    rows += [
        ("question", trace.query),
        ("standalone question", trace.retrieval_query),
        ("answer", trace.answer),
    ]
    rows.append(("reference", trace.reference.answer if trace.reference else None))
    for name, text in rows:
        if text:
            table.add_row(show(name, "bold"), show(text))
    if trace.extraction.failure is None:
        table.add_row(show("contexts", "bold"), show(_count_contexts(trace)))
    return table


def _count_contexts(trace: Trace) -> str:
    cause = trace.missing_contexts
    count = 0 if trace.contexts is None else len(trace.contexts)
    return str(count) if cause is None else f"{count}: {MEANINGS[cause]}"


def _head(context: Context) -> str:
    score = "" if context.score is None else f"score {context.score:g}"
    blank = "blank: never relevant" if context.is_blank else ""
    return "  ".join(
        word for word in (context.number, context.id, score, context.origin.value, blank) if word
    )


def _list_evidence(trace: Trace) -> Table:
    table = make_table("field", "found by", "confidence")
    for field, evidence in trace.extraction.fields.items():
        table.add_row(show(field), show(evidence.rule), show(evidence.confidence))
    return table
