"""A trace as the lexical judge reads it, with the evidence of each of its contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.extraction.sentences import split_sentences
from ragsonde.judging.lexical.abstention import is_abstention
from ragsonde.judging.lexical.evidence import weigh_evidence
from ragsonde.judging.lexical.heads import QUERY_ANSWER, QUERY_ONLY
from ragsonde.judging.lexical.probe import read_answer, read_question
from ragsonde.judging.lexical.reading import read_sentences

if TYPE_CHECKING:
    from ragsonde.judging.lexical.evidence import Evidence
    from ragsonde.judging.lexical.heads import Weights
    from ragsonde.judging.lexical.probe import Probe
    from ragsonde.judging.lexical.reading import Reading
    from ragsonde_schemas.trace import Context, Trace


_MOST_CHARACTERS = 20_000
"""So much of a question, an answer or a reference is looked for; contexts are read whole."""


@dataclass(frozen=True, slots=True)
class Case:
    """A trace read.

    Attributes:
        trace: as it came.
        contexts: those that are not blank; `readings` and `evidence` are theirs, in the same order.
        questions: the question and its rewritten form, at least one; without a word where none was asked.
        answer: None where it abstains, only says yes or no, or is not there.
        answer_sentences: empty where it abstains.
        has_abstained: the answer declines.
    """

    trace: Trace
    contexts: tuple[Context, ...]
    readings: tuple[Reading, ...]
    questions: tuple[Probe, ...]
    answer: Probe | None
    answer_sentences: tuple[str, ...]
    has_abstained: bool
    evidence: tuple[Evidence, ...]

    @property
    def head(self) -> str:
        """The head that the verdicts about contexts come from."""
        return QUERY_ONLY if self.answer is None else QUERY_ANSWER


def read_case(trace: Trace, *, weights: Weights) -> Case:
    """The case of a trace; every text in it is normalized and tokenized once."""
    asked = (_clip(text) for text in (trace.query, trace.retrieval_query))
    questions = tuple(read_question(text) for text in dict.fromkeys(asked) if text) or (read_question(""),)
    has_abstained = trace.has_answer and is_abstention(trace.answer or "")
    said = "" if has_abstained else _clip(trace.answer)
    answer = read_answer(said, questions=questions)
    given = trace.reference.answer if trace.reference else None
    reference = read_answer(_clip(given), questions=questions)
    contexts = tuple(context for context in trace.contexts or () if not context.is_blank)
    readings = tuple(map(_read_context, contexts))
    evidence = tuple(
        weigh_evidence(reading, questions=questions, answer=answer, reference=reference, weights=weights)
        for reading in readings
    )
    sentences = tuple(split_sentences(said))
    return Case(trace, contexts, readings, questions, answer, sentences, has_abstained, evidence)


def _read_context(context: Context) -> Reading:
    return read_sentences([sentence.text for sentence in context.sentences] or [context.content])


def _clip(text: str | None) -> str:
    return (text or "")[:_MOST_CHARACTERS].strip()
