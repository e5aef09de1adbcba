"""The conventions that spans follow, and the step that a span is by all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.conventions import (
    datadog,
    genai,
    langfuse,
    mlflow,
    openinference,
    traceloop,
    trulens,
    vercel,
)
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde_schemas.span import Span


class Convention(NamedTuple):
    """A convention; `read_step` gives None for a span that does not follow it."""

    name: str
    read_step: Callable[[Span], Step | None]


CONVENTIONS = (
    Convention("openinference", openinference.read_step),
    Convention("langfuse", langfuse.read_step),
    Convention("traceloop", traceloop.read_step),
    Convention("vercel", vercel.read_step),
    Convention("mlflow", mlflow.read_step),
    Convention("trulens", trulens.read_step),
    Convention("datadog", datadog.read_step),
    Convention("genai", genai.read_step),
)
"""Read from top to bottom: what one convention does not say, the next may; the general one is last."""


def read_step(span: Span) -> Step | None:
    """The step that a span is, None where no convention knows it."""
    merged: Step | None = None
    for convention in CONVENTIONS:
        step = convention.read_step(span)
        if step is not None:
            merged = step if merged is None else _merge(merged, step)
    return merged


def _merge(first: Step, later: Step) -> Step:
    """The first convention decides, the later one fills in; a kind goes before none."""
    leads = first.kind is StepKind.OTHER and later.kind is not StepKind.OTHER
    kind = later.kind if leads else first.kind
    is_same = later.kind is kind
    takes_documents = first.documents is None and later.documents is not None and is_same
    return replace(
        first,
        convention=later.convention if takes_documents or leads else first.convention,
        kind=kind,
        documents=later.documents if takes_documents else first.documents,
        question=first.question if first.question.value is not None else later.question,
        answer=first.answer if first.answer.value is not None else later.answer,
        turns=first.turns or later.turns,
        prompted=first.prompted or later.prompted,
        facts={**later.facts, **first.facts},
        is_entry=first.is_entry or later.is_entry,
        is_error=first.is_error or later.is_error,
    )
