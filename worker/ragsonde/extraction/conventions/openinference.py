"""Spans that follow OpenInference: `openinference.span.kind` and what its semantic conventions name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.openinference_attributes import (
    INPUT_MESSAGES,
    KIND,
    OUTPUT_MESSAGES,
    RERANKED,
    RETRIEVED,
    read_json,
    read_messages,
    read_plain,
    read_said,
    read_span_documents,
    read_text,
)
from ragsonde.extraction.conventions.openinference_facts import read_facts
from ragsonde.extraction.conventions.openinference_turns import read_given
from ragsonde.extraction.conventions.recorded_texts import keep_plain, read_answer
from ragsonde.extraction.documents import read_document
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.messages import read_question, read_reply, read_tool_message, read_tool_output
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document
    from ragsonde_schemas.span import Span

NAME = "openinference"
_KINDS = {
    "RETRIEVER": StepKind.RETRIEVER,
    "RERANKER": StepKind.RERANKER,
    "TOOL": StepKind.TOOL,
    "LLM": StepKind.GENERATION,
    "GUARDRAIL": StepKind.GUARD,
    "EVALUATOR": StepKind.CHECK,
}
_SILENT = frozenset({"EMBEDDING", "PROMPT"})
"""What they return is meant for the next step: no answer, though it may be a text."""

_OWN = (f"{INPUT_MESSAGES}.", f"{OUTPUT_MESSAGES}.", f"{RETRIEVED}.", "reranker.", "llm.prompt_template.")
_PROMPT_VARIABLES = ("context", "context_str")
_SPEAKER = "assistant: "
_RETURNED = cite(f"{NAME}:output.value", is_exact=False)


def read_step(span: Span) -> Step | None:
    """The step of a span with OpenInference's attributes, else None."""
    kind = _find_kind(span)
    if kind is None:
        return None
    documents = _read_documents(span, kind=kind)
    if kind is StepKind.OTHER and documents is not None:
        kind = StepKind.TOOL
    return Step(
        convention=NAME,
        id=span.span_id,
        parent_id=span.parent_span_id,
        kind=kind,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
        documents=documents,
        question=_read_question(span, kind=kind),
        answer=_read_answer(span, kind=kind),
        turns=read_given(span),
        prompted=_read_prompt_variables(span),
        facts=read_facts(span),
    )


def _find_kind(span: Span) -> StepKind | None:
    kind = span.attributes.get(KIND)
    if isinstance(kind, str):
        return _KINDS.get(kind.upper(), StepKind.OTHER)
    own = next((key for key in span.attributes if key.startswith(_OWN)), None)
    if own is None:
        return None
    if own.startswith("reranker."):
        return StepKind.RERANKER
    return StepKind.RETRIEVER if own.startswith(RETRIEVED) else StepKind.GENERATION


def _read_documents(span: Span, *, kind: StepKind) -> tuple[Document, ...] | None:
    """What was delivered; of a plain span only a message of role `tool` is taken for that."""
    match kind:
        case StepKind.RETRIEVER | StepKind.RERANKER:
            prefix = RETRIEVED if kind is StepKind.RETRIEVER else RERANKED
            documents = read_span_documents(span, prefix=prefix)
            return None if documents is None else tuple(documents)
        case StepKind.TOOL:
            output = span.attributes.get("output.value")
            return None if output is None else read_tool_output(output)
        case StepKind.OTHER:
            output = read_json(span, "output.value")
            return None if output is None else read_tool_message(output)
    return None


def _read_question(span: Span, *, kind: StepKind) -> Found:
    """What the span was asked; a model call's input in JSON is its whole prompt, whose turns tell more."""
    if kind is StepKind.RERANKER:
        question = read_text(span, "reranker.query")
        return NOTHING if question is None else Found(question)
    question = read_plain(span, "input")
    if question is None and kind is not StepKind.GENERATION:
        asked = read_question(read_json(span, "input.value"))
        question = None if asked is None else keep_plain(asked)
    return NOTHING if question is None else Found(question)


def _read_answer(span: Span, *, kind: StepKind) -> Found:
    """The text that a model call or a run answered; "" where it ended in a call of a tool.

    A model call's messages go before its output, which some instrumentations write as `assistant: ...`.
    """
    if kind is StepKind.GENERATION:
        said = read_said(read_messages(span, prefix=OUTPUT_MESSAGES))
        if said is not None:
            return Found(said)
    elif kind is not StepKind.OTHER or str(span.attributes.get(KIND)).upper() in _SILENT:
        return NOTHING
    plain = read_plain(span, "output")
    if plain is None:
        return _read_returned(read_json(span, "output.value"))
    text = plain if kind is not StepKind.GENERATION else plain.removeprefix(_SPEAKER)
    return Found(text) if text.strip() else NOTHING


def _read_returned(value: dict[str, Any] | list[Any] | None) -> Found:
    """The answer inside JSON: the last reply of messages, or what an object says under the key of one."""
    text = read_reply(value) if isinstance(value, list) else read_answer(value)
    return NOTHING if text is None else Found(text, _RETURNED)


def _read_prompt_variables(span: Span) -> tuple[str, ...]:
    variables = read_json(span, "llm.prompt_template.variables")
    if not isinstance(variables, dict):
        return ()
    for value in map(variables.get, _PROMPT_VARIABLES):
        items: list[Any] = value if isinstance(value, list) else [value]
        texts = [text for item in items if item is not None and (text := read_document(item).content)]
        if any(text.strip() for text in texts):
            return tuple(texts)
    return ()
