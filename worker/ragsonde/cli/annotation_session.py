"""Questions about traces, one key an answer, and the annotations that they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rich.padding import Padding

from ragsonde.cli.keys import END
from ragsonde.cli.terminal import show

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from ragsonde.cli.annotation_file import AnnotationFile
    from ragsonde_schemas.trace import Trace

SKIP, BACK, QUIT = "s", "b", "q"
_YES_NO: dict[str, Any] = {"y": True, "n": False}
_USED: dict[str, Any] = {"u": True, **_YES_NO}
_LEVELS: dict[str, Any] = {"h": "high", "m": "medium", "l": "low", "0": "none"}
_INDENT = (0, 0, 0, 4)
"""Deeper than any question of ours, where a long line goes on too."""
_INTERRUPTS = ("\x03", "\x04")


class Question(NamedTuple):
    """One question.

    Attributes:
        number: of the context it is about; '' for the whole trace.
        field: of the annotation.
        keys: each with what it says.
    """

    number: str
    field: str
    words: str
    keys: dict[str, Any]


def list_questions(trace: Trace) -> list[Question]:
    """What is asked about a trace: contexts that are not blank in their order, then whether they suffice."""
    questions = []
    for context in trace.contexts or ():
        if context.is_blank:
            continue
        number = context.number
        questions.append(Question(number, "relevant", "relevant to question and answer? y/n", _YES_NO))
        if trace.has_reference:
            questions.append(Question(number, "supports", "supports the reference? y/n", _YES_NO))
        questions.append(Question(number, "level", "level? h high, m medium, l low, 0 none", _LEVELS))
        if trace.has_answer:
            questions.append(Question(number, "used", "used in the answer? u/n", _USED))
    questions.append(
        Question("", "insufficient", "do the contexts suffice to answer? y/n", {"y": False, "n": True})
    )
    return questions


def build_annotation(trace: Trace, keys: Sequence[str]) -> dict[str, Any]:
    """The recorded assessment that the keys, one a question, come to."""
    record: dict[str, Any] = {"trace_id": trace.trace_id, "contexts": {}}
    for question, key in zip(list_questions(trace), keys, strict=True):
        place = record["contexts"].setdefault(question.number, {}) if question.number else record
        place[question.field] = question.keys[key]
    return record


class Session:
    """Asks about traces until all are annotated, or the person ends it.

    Args:
        annotations: where every answer is kept as soon as it is given.
        console: where questions are shown.
    """

    def __init__(self, annotations: AnnotationFile, *, console: Console) -> None:
        self._annotations = annotations
        self._console = console
        self._done: dict[str, list[str]] = {}

    def run(self, traces: Sequence[Trace], *, keys: Callable[[], str]) -> None:
        """Asks about each trace that is not annotated, in order; `b` at a first question reopens the last."""
        waiting = [trace for trace in _list_once(traces) if trace.trace_id not in self._annotations]
        self._tell(f"{len(waiting)} of {len(traces)} traces to annotate, {self._annotations.name}", "bold")
        place = 0
        while 0 <= place < len(waiting):
            step = self._ask_about(waiting[place], keys, heading=f"{place + 1} of {len(waiting)}")
            if step is None:
                break
            place = max(0, place + step)
        self._tell(f"{len(self._done)} annotated now, {self._annotations.name}")

    def _ask_about(self, trace: Trace, keys: Callable[[], str], *, heading: str) -> int | None:
        """1 when the next trace is to come, -1 for the one before, None for none."""
        questions = list_questions(trace)
        given = self._find_given(trace, questions)
        self._show_trace(trace, heading=heading)
        while len(given) < len(questions):
            key = self._ask(trace, questions[len(given)], keys)
            if key in (QUIT, END):
                if given:
                    answers = "1 answer" if len(given) == 1 else f"{len(given)} answers"
                    self._tell(f"{answers} about trace {trace.trace_id} kept: call it again to go on there")
                return None
            if key == SKIP:
                return 1
            if key == BACK and not given:
                return -1
            if key == BACK:
                given.pop()
            else:
                given.append(key)
            self._annotations.keep_draft(trace.trace_id, given)
        self._annotations.add(build_annotation(trace, given))
        self._done[trace.trace_id] = given
        return 1

    def _find_given(self, trace: Trace, questions: Sequence[Question]) -> list[str]:
        """The answers so far, of an earlier session too, as far as they answer these; never the last one."""
        given: list[str] = []
        known = self._done.get(trace.trace_id) or self._annotations.read_draft(trace.trace_id)
        for question, key in zip(questions, known, strict=False):
            if key not in question.keys:
                break
            given.append(key)
        return given[: len(questions) - 1]

    def _ask(self, trace: Trace, question: Question, keys: Callable[[], str]) -> str:
        if question.number and question.field == "relevant":
            self._show_context(trace, question.number)
        about = f"context {question.number}" if question.number else "all contexts"
        self._tell(f"  {about}: {question.words}  (s skip, b back, q quit)", "cyan")
        while True:
            key = keys()
            if key in _INTERRUPTS:
                return QUIT
            if key.casefold() in (*question.keys, SKIP, BACK, QUIT, END):
                self._tell(f"  > {key.casefold()}", "dim")
                return key.casefold()
            self._tell(f"  no such key: expected {' '.join([*question.keys, SKIP, BACK, QUIT])}", "yellow")

    def _show_trace(self, trace: Trace, *, heading: str) -> None:
        self._tell(f"\n{heading}: trace {trace.trace_id}", "bold")
        for turn in trace.turns:
            self._quote(turn.role, turn.content)
        if trace.retrieval_query and trace.retrieval_query != trace.query:
            self._quote("standalone question", trace.retrieval_query)
        self._quote("question", trace.query or trace.retrieval_query or "")
        self._quote("answer", trace.answer if trace.answer and trace.has_answer else "(none)")
        if trace.has_reference and trace.reference:
            self._quote("reference", trace.reference.answer or "")
        self._tell(f"contexts: {len(trace.contexts or ())}")

    def _show_context(self, trace: Trace, number: str) -> None:
        context = next(context for context in trace.contexts or () if context.number == number)
        self._quote(f"\ncontext {number} of {len(trace.contexts or ())}", context.content)

    def _quote(self, name: str, text: str) -> None:
        """Shows text of a trace, each line marked, so that none passes for a question of ours."""
        self._tell(name, "bold")
        quoted = show("\n".join(f"| {line}" for line in text.split("\n")))
        self._console.print(Padding(quoted, _INDENT, expand=False))

    def _tell(self, text: str, style: str = "") -> None:
        self._console.print(show(text, style))


def _list_once(traces: Sequence[Trace]) -> list[Trace]:
    """The traces that can be annotated, each id once: annotations are found by it."""
    usable = {
        trace.trace_id: trace
        for trace in reversed(traces)
        if trace.missing_contexts is None and trace.has_query
    }
    return list(reversed(usable.values()))
