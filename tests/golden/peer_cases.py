"""From a case in the originals' form to a configuration, a trace and a recorded assessment.

Only tests know the originals' forms. Context indices that are exactly 1..N are numbers, all others count from
0. A line of a quoted reply counts only if every sentence in it is found in the contexts; list marks, case,
blanks and end marks are ignored. The whole reply "Insufficient Information" is the flag.
"""

from __future__ import annotations

import re

from ragsonde.extraction.sentences import split_sentences
from unit.scoring.rag_traces import make_texts, make_trace

_LIST_MARK = re.compile(r"^(?:\d+[.)]|[-*\u2022])\s+")
_NOT_IN_THE_CONTEXTS = "quoted from nowhere"


def read_config(case):
    options = dict(case["options"])
    if case["scorer"] == "statement_relevancy":
        options["statements"] = "extracted"
    return {case["scorer"]: options}


def read_trace(case):
    inputs = case["inputs"]
    if "context" in inputs:
        texts = inputs["context"]
        return make_trace([texts] if isinstance(texts, str) else texts)
    return make_trace(make_texts(inputs.get("n_contexts", 1)))


def read_recorded(case):
    inputs = case["inputs"]
    if "grader_text" in inputs:
        return _read_quotes(inputs["grader_text"], trace=read_trace(case))
    if "evaluations" in inputs:
        contexts = _number(inputs["evaluations"], n_contexts=inputs["n_contexts"])
        return {
            "contexts": [{"number": n, "level": v["relevance"], "used": v["used"]} for n, v in contexts],
            "missing": inputs["missing"],
        }
    verdicts = inputs["verdicts"]
    if case["scorer"] == "statement_relevancy":
        return {
            "statements": [{"text": f"Statement {place}.", "relevant": v} for place, v in enumerate(verdicts)]
        }
    if case["scorer"] == "context_position":
        return {"contexts": {str(number): {"relevant": v} for number, v in enumerate(verdicts, start=1)}}
    contexts = _number(verdicts, n_contexts=inputs["n_contexts"])
    return {"contexts": [{"number": n, "relevant": v["verdict"]} for n, v in contexts]}


def _number(verdicts, *, n_contexts):
    indices = [verdict["context_index"] for verdict in verdicts]
    is_numbered = sorted(indices) == list(range(1, n_contexts + 1))
    shift = 0 if is_numbered else 1
    return [(str(verdict["context_index"] + shift), verdict) for verdict in verdicts]


def _read_quotes(reply, *, trace):
    if reply.strip().casefold() == "insufficient information":
        return {"essential": [], "insufficient": True}
    known = {}
    for sentence in trace.sentences:
        known.setdefault(_fold(sentence.text), []).append(sentence.number)
    essential = []
    for line in reply.splitlines():
        found = [known.get(_fold(quote)) for quote in split_sentences(line)]
        if all(found):
            essential.extend(number for numbers in found for number in numbers)
    return {"essential": essential or [_NOT_IN_THE_CONTEXTS]}


def _fold(sentence):
    return " ".join(_LIST_MARK.sub("", sentence.strip()).casefold().split()).rstrip(".!?\u3002\uff01\uff1f ")
