"""Spans that follow OpenTelemetry's GenAI conventions, and what is found in them."""

from __future__ import annotations

import json

from builders.spans import make_span, make_whole
from ragsonde.extraction.span_findings import find_in_spans, read_steps
from ragsonde_schemas.span import SpanEvent

QUESTION = "How long does a refund take?"
ANSWER = "14 days."
DOCUMENTS = [{"id": "1", "score": 0.9, "content": "a"}, {"id": "2", "score": 0.5, "content": "b"}]


def message(role, *texts, **fields):
    """A message of text parts."""
    return {"role": role, "parts": [{"type": "text", "content": text} for text in texts], **fields}


def operation(span_id, name, parent=1, *, events=(), **attributes):
    """A span of one operation; `__` in names stands for a dot."""
    given = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    if name is not None:
        given["gen_ai.operation.name"] = name
    return make_span(span_id, parent, attributes=given, events=events)


def chat(span_id, *said, reply=ANSWER, parent=1, **attributes):
    """A model call that was told `said` and replied `reply`."""
    return operation(
        span_id,
        "chat",
        parent,
        input__messages=json.dumps([message(role, text) for role, text in said]),
        output__messages=json.dumps([message("assistant", reply, finish_reason="stop")]),
        **attributes,
    )


def event(name, **attributes):
    """An event of a span; `__` in names stands for a dot."""
    return SpanEvent(name, 0, {key.replace("__", "."): value for key, value in attributes.items()})


def find(*spans):
    """What is found in one trace of a plain root and these spans."""
    (found,) = find_in_spans(make_whole(make_span(1), *spans))
    return found


def kind(span):
    """What the span did."""
    (step,) = read_steps([span])
    return step.kind.value


def texts(found):
    """The texts of the contexts, None where they are unknown."""
    return None if found.contexts is None else [context.content for context in found.contexts]
