"""Retrievals, tools and generations of one trace, and the contexts chosen from them."""

from __future__ import annotations

from builders.steps import make_step
from ragsonde.extraction.options import RetrievalOptions
from ragsonde.extraction.retrievals import choose_contexts
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind

ROOT = make_step(1, answer="The answer.", end=900)


def retriever(step_id, *documents, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.RETRIEVER, documents=documents, **fields)


def reranker(step_id, *documents, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.RERANKER, documents=documents, **fields)


def tool(step_id, *documents, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.TOOL, documents=documents, **fields)


def generation(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.GENERATION, **fields)


def choose(*steps, **options):
    """All that is chosen from a trace of `ROOT` and these steps."""
    return choose_contexts(StepTree([ROOT, *steps]), options=RetrievalOptions(**options))


def find(*steps, **options):
    """The one choice from them."""
    (found,) = choose(*steps, **options)
    return found


def texts(found):
    """The texts of the contexts, None where they are unknown."""
    return None if found.contexts is None else [context.content for context in found.contexts]


def places(found):
    """Each context's text with the retrieval that it came from."""
    return [(context.content, context.retrieval_step) for context in found.contexts]
