"""The result of a Haystack pipeline: whatever components delivered, found by its shape and their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.documents import Document, read_name, read_score
from ragsonde.extraction.foreign.haystack_replies import Reply, read_generated, read_reply
from ragsonde.extraction.foreign.moments import find_moment
from ragsonde.extraction.foreign.places import list_objects, look_up
from ragsonde.extraction.foreign.stated_fields import add_stated, find_names, read_found
from ragsonde.extraction.foreign.trace_names import find_trace_name
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings, Found
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde_schemas.decoded import ForeignDocument

FORMAT = "haystack_output"
_WRAPPERS = ("result", "results", "output", "outputs")
_STATED = frozenset({"data", "metadata", "reference", "usage", "evaluation"})
_QUESTIONS = ("query", "question", "text")
_TIMES = ("occurred_at", "timestamp")
_OWN = frozenset({"id", "content", "score", "meta", "blob", "dataframe", "embedding", "sparse_embedding"})
_RETRIEVING = ("retriev", "search")
_JOINING = ("join", "merg")


def find(document: ForeignDocument, *, options: RetrievalOptions) -> tuple[Findings, ...]:
    """The fields of one run: contexts of the last ranker, else of the retrievers; the last reply."""
    fields = document.document
    name = find_trace_name(fields, [fields.get("trace_id")])
    found = find_in_steps(
        _read_steps(fields),
        format_name=FORMAT,
        trace_id=name.trace_id,
        claimed_at=find_moment(fields.get(key) for key in _TIMES),
        options=options,
        warnings=(*document.warnings, *name.warnings),
    )
    return tuple(add_stated(findings, fields) for findings in found)


def _read_steps(fields: dict[str, Any]) -> list[Step]:
    components = _list_components(fields)
    generators = [(name, outputs) for name, outputs in components if _is_generator(outputs)]
    replies = [(name, read_reply(outputs)) for name, outputs in generators]
    generated = next(
        (read_generated(outputs) for _, outputs in reversed(components) if outputs.get("answers")), None
    )
    retrievals = _read_retrievals(components)
    if not retrievals and generated is not None and generated.documents is not None:
        documents = tuple(map(_read_document, list_objects(generated.documents)))
        retrievals = [_make_step("answers", StepKind.RETRIEVER, place=1, documents=documents)]
    entry = Step(
        convention=FORMAT,
        id="",
        parent_id=None,
        kind=StepKind.OTHER,
        question=_find_question(fields, components, generated=generated),
        answer=_find_answer(replies, generated=generated),
        facts=find_names(fields, format_name=FORMAT, places={}),
        is_entry=True,
    )
    after = len(components) + 2
    generations = [
        _make_step(name, StepKind.GENERATION, place=after + place, facts=_find_facts(reply))
        for place, (name, reply) in enumerate(replies)
    ]
    return [entry, *retrievals, *generations]


def _list_components(fields: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Components by name in the order of the result, at the top and inside a wrapper."""
    scopes = [fields, *(fields[key] for key in _WRAPPERS if isinstance(fields.get(key), dict))]
    return [
        (name, outputs)
        for scope in scopes
        for name, outputs in scope.items()
        if isinstance(outputs, dict) and name not in _STATED
    ]


def _is_generator(outputs: dict[str, Any]) -> bool:
    return isinstance(outputs.get("replies"), list)


def _read_retrievals(components: list[tuple[str, dict[str, Any]]]) -> list[Step]:
    """A step for each component that delivered documents; where retrievers are named so, only for those.

    What a joiner joined is a part of it.
    """
    delivering = [
        (name, outputs["documents"])
        for name, outputs in components
        if isinstance(outputs.get("documents"), list)
    ]
    rankers = [item for item in delivering if "rank" in item[0].lower()]
    joiners = [item for item in delivering if _has_word(item[0], _JOINING) and item not in rankers]
    others = [item for item in delivering if item not in rankers and item not in joiners]
    retrievers = [item for item in others if _has_word(item[0], _RETRIEVING)] or others
    above = joiners[-1][0] if joiners else None
    kinds = (
        *((item, StepKind.RETRIEVER, above) for item in retrievers),
        *((item, StepKind.RETRIEVER, None) for item in joiners[-1:]),
        *((item, StepKind.RERANKER, None) for item in rankers),
    )
    return [
        _make_step(
            name,
            kind,
            place=place,
            parent=parent,
            documents=tuple(map(_read_document, list_objects(documents))),
        )
        for place, ((name, documents), kind, parent) in enumerate(kinds, start=1)
    ]


def _has_word(name: str, words: tuple[str, ...]) -> bool:
    return any(word in name.lower() for word in words)


def _make_step(
    name: str,
    kind: StepKind,
    *,
    place: int,
    parent: str | None = None,
    documents: tuple[Document, ...] | None = None,
    facts: dict[str, Found] | None = None,
) -> Step:
    """A component's step; a result tells no times, so its place among the others stands for them."""
    return Step(
        convention=FORMAT,
        id=f"{kind.value}:{name}",
        parent_id="" if parent is None else f"{StepKind.RETRIEVER.value}:{parent}",
        kind=kind,
        start_ns=place,
        end_ns=place,
        name=name,
        documents=documents,
        facts=facts or {},
    )


def _read_document(item: dict[str, Any]) -> Document:
    """A document; without `meta` it was written flat, its metadata beside its own fields."""
    content, meta = item.get("content"), item.get("meta")
    flat = {key: value for key, value in item.items() if key not in _OWN}
    return Document(
        content=content if isinstance(content, str) else None,
        id=read_name(item.get("id")),
        score=read_score(item.get("score")),
        metadata=(meta if isinstance(meta, dict) else flat) or None,
    )


def _find_question(
    fields: dict[str, Any],
    components: list[tuple[str, dict[str, Any]]],
    *,
    generated: Reply | None,
) -> Found:
    """The producer's own, else a retriever's input, else what any component had under a question's name."""
    for key in _QUESTIONS[:2]:
        if (text := _read_text(fields.get(key))) is not None:
            return read_found(text, f"{FORMAT}:{key}")
    data = fields.get("data")
    inputs = list(data.items()) if isinstance(data, dict) else []
    inputs.sort(key=lambda item: not _has_word(item[0], _RETRIEVING))
    for key in _QUESTIONS:
        for value in (data, *(item for _, item in inputs)):
            if (text := _read_text(look_up(value, key))) is not None:
                return read_found(text, f"{FORMAT}:data", is_exact=False)
    for _, outputs in components:
        if (text := _read_text(outputs.get("query"))) is not None:
            return read_found(text, f"{FORMAT}:component_query", is_exact=False)
    if generated is not None and generated.query is not None:
        return read_found(generated.query, f"{FORMAT}:answers", is_exact=False)
    return NOTHING


def _read_text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _find_answer(replies: list[tuple[str, Reply]], *, generated: Reply | None) -> Found:
    if generated is not None and generated.text is not None:
        return read_found(generated.text, f"{FORMAT}:answers")
    return read_found(replies[-1][1].text, f"{FORMAT}:replies") if replies else NOTHING


def _find_facts(reply: Reply) -> dict[str, Found]:
    facts = {
        "model": read_found(reply.model, f"{FORMAT}:replies"),
        "usage": read_found(reply.usage or None, f"{FORMAT}:replies"),
    }
    return {field: fact for field, fact in facts.items() if fact.value is not None}
