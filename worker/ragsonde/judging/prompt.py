"""What an LLM judge is shown of a trace: fenced, numbered data that no text in it can leave."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ragsonde.extraction.texts import mend_text
from ragsonde.judging.instructions import KEYS_OF, choose_keys, write_instructions
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.rubric import Rubric
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.judging.options import Reasons
    from ragsonde_schemas.trace import Context, Trace

LAST_TURNS = 3
"""So much of the conversation before the question is shown."""

FENCE_DIGITS = 8

Message = dict[str, str]


class Prompt(Value):
    """A judge's question about one trace.

    Attributes:
        keys: of the reply, in its order.
        aspects: what is asked; without `supports` where there is no reference to support.
        rubrics: the user's own questions, numbered from 1 in this order; none unless `rubrics` is asked.
        system: the instructions, the same for every trace with these keys.
        user: the data.
    """

    keys: tuple[str, ...]
    aspects: frozenset[Aspect]
    rubrics: tuple[Rubric, ...] = ()
    system: str
    user: str

    @property
    def messages(self) -> list[Message]:
        """The conversation as providers take it."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


def render_prompt(
    trace: Trace, aspects: frozenset[Aspect], *, reasons: Reasons, rubrics: tuple[Rubric, ...] = ()
) -> Prompt:
    """The question that asks for all `aspects` of a trace at once; `rubrics` are those of that aspect."""
    asked = frozenset(
        aspect
        for aspect in aspects & KEYS_OF.keys()
        if _can_be_asked(aspect, trace) and (rubrics or aspect is not Aspect.RUBRICS)
    )
    keys = choose_keys(asked, reasons=reasons)
    told = rubrics if Aspect.RUBRICS in asked else ()
    return Prompt(
        keys=keys,
        aspects=asked,
        rubrics=told,
        system=write_instructions(keys, told),
        user=_render_data(trace),
    )


_OF_ANSWER = frozenset({Aspect.CLAIMS, Aspect.ANSWER_STATEMENTS})
_OF_REFERENCE = frozenset({Aspect.SUPPORTS, Aspect.REFERENCE_STATEMENTS})


def _can_be_asked(aspect: Aspect, trace: Trace) -> bool:
    if aspect in _OF_ANSWER:
        return trace.has_answer
    return trace.has_reference or aspect not in _OF_REFERENCE


def _render_data(trace: Trace) -> str:
    sections = list(_list_sections(trace))
    fence = _choose_fence([line for _, lines in sections for line in lines])
    rendered = [fence]
    for title, lines in sections:
        rendered.append(f"{fence} {title}")
        rendered.extend(lines)
    rendered.append(f"{fence} end of data: now reply with the JSON object")
    return mend_text("\n".join(rendered))


def _list_sections(trace: Trace) -> Iterator[tuple[str, list[str]]]:
    query = trace.query if trace.query and trace.query.strip() else None
    if trace.turns:
        turns = trace.turns[-LAST_TURNS:]
        yield "earlier turns", [_join_line(f"{turn.role}: {turn.content}") for turn in turns]
    if query is not None:
        yield "question", _clean_lines(query)
    if trace.retrieval_query and trace.retrieval_query.strip() and trace.retrieval_query != query:
        yield "search query" if query is not None else "question", _clean_lines(trace.retrieval_query)
    if trace.has_answer:
        yield "answer", _clean_lines(trace.answer or "")
    if trace.has_reference and trace.reference is not None:
        yield "reference answer", _clean_lines(trace.reference.answer or "")
    for context in trace.contexts or ():
        if not context.is_blank:
            yield f"context {context.number}", number_lines(context)


def number_lines(context: Context) -> list[str]:
    """A context as it is shown, one line a sentence.

    A text cannot begin a line of its own, so it cannot forge a number.
    """
    if not context.sentences:
        return [_join_line(context.content)]
    return [f"{sentence.number} {_join_line(sentence.text)}" for sentence in context.sentences]


def _clean_lines(text: str) -> list[str]:
    return [_join_line(line) for line in text.splitlines() if line.strip()]


def _join_line(text: str) -> str:
    return " ".join(text.split())


def _choose_fence(lines: list[str]) -> str:
    """Hex digits that no line holds: drawn from the text, so that the same trace gives the same prompt."""
    text = "\n".join(lines)
    digest = sha256(text.encode("utf-8", "surrogatepass"))
    while (fence := digest.hexdigest()[:FENCE_DIGITS]) in text:
        digest.update(b"+")
    return fence
