"""What was asked, what was said before, what was answered: once for all conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.steps import StepKind, has_text, name_finding

if TYPE_CHECKING:
    from ragsonde.extraction.step_tree import StepTree
    from ragsonde.extraction.steps import Step
    from ragsonde_schemas.trace import Turn


class Conversation(NamedTuple):
    """The question, the turns before it and the answer."""

    query: Found = Found()
    turns: tuple[Turn, ...] = ()
    answer: Found = Found()


def find_conversation(tree: StepTree) -> Conversation:
    """The conversation of one record, by the steps that say most plainly what it is."""
    return Conversation(query=_find_query(tree), turns=_find_turns(tree), answer=_find_answer(tree))


def _find_query(tree: StepTree) -> Found:
    """What the run that was asked took, else a retriever or reranker, else the last user turn."""
    asked = tree.asked
    if asked is not None and has_text(asked.question) and asked.kind not in _ASKED:
        is_exact = asked is tree.entry and tree.is_entry_sure
        return name_finding(asked.question, asked, "root_input", is_exact=is_exact)
    for kind, place in _ASKED.items():
        for step in tree.steps:
            if step.kind is kind and has_text(step.question):
                return name_finding(step.question, step, place, is_exact=False)
    for step in _list_prompted(tree):
        said = [turn.content for turn in step.turns if turn.role == "user"]
        if said:
            return Found(said[-1], cite(f"{step.convention}:last_user_message", is_exact=False))
    return Found()


_ASKED = {StepKind.RETRIEVER: "retriever_input", StepKind.RERANKER: "reranker_query"}


def _find_turns(tree: StepTree) -> tuple[Turn, ...]:
    """The user and assistant turns before the question, as the final generation was given them."""
    turns = next((step.turns for step in _list_prompted(tree) if step.turns), ())
    asked = [place for place, turn in enumerate(turns) if turn.role == "user"]
    if not asked:
        return ()
    return tuple(turn for turn in turns[: asked[-1]] if turn.role in {"user", "assistant"})


def _list_prompted(tree: StepTree) -> tuple[Step, ...]:
    """The final generation, what stands around it, and the runs that were asked and answered.

    Any other generation (one that names the conversation or checks the question) was told other things.
    """
    final = tree.final_generation
    around = () if final is None else (final, *tree.ancestors(final))
    return tuple(step for step in (*around, tree.exit, tree.asked) if step is not None)


def _find_answer(tree: StepTree) -> Found:
    """What the application's exit answered, else its final generation, or one around that.

    A run that ended in a tool call (its text is "") has no answer. Nor has one whose final generation
    recorded no text: what another one said is a draft, a rewrite of the question or a title.
    """
    last, final = tree.exit, tree.final_generation
    around = () if final is None else tuple(tree.ancestors(final))
    generations = [step for step in (final, *around) if step is not None and step.kind is StepKind.GENERATION]
    speaks = last is not None and (last.is_entry or last.kind is StepKind.OTHER)
    for step in (last, *generations) if speaks else generations:
        if step is not None and step.answer.value is not None:
            if not has_text(step.answer):
                return Found()
            if step is last and speaks:
                return name_finding(
                    step.answer, step, "root_output", is_exact=step is tree.entry and tree.is_entry_sure
                )
            return name_finding(step.answer, step, "last_output_message", is_exact=False)
    return Found()
