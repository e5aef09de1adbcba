import pytest

from builders.steps import make_step
from ragsonde.extraction.findings import cite
from ragsonde.extraction.prompted_contexts import find_prompted
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind

ROOT = make_step(1, answer="The answer.", end=900)
POLITE = ("system", "You are a polite assistant.")


def retriever(step_id, **fields):
    return make_step(step_id, 1, kind=StepKind.RETRIEVER, **fields)


def generation(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.GENERATION, **fields)


def find(*steps):
    return find_prompted(StepTree([ROOT, *steps]))


def texts(found):
    return [context.content for context in found[0]]


@pytest.mark.parametrize("is_error", [True, False])
def test_a_whole_system_message_is_no_context_and_a_retrieval_that_recorded_nothing_is_told(is_error):
    contexts, evidence, warnings = find(
        retriever(2, is_error=is_error), generation(3, turns=[POLITE, ("user", "q")])
    )
    assert (contexts, evidence) == (None, None)
    assert len(warnings) == 1
    assert warnings[0].startswith("contexts: retrieval ran, but no span recorded documents")


def test_without_a_retrieval_nothing_is_told():
    assert find(generation(3, turns=[POLITE, ("user", "q")])) is None


def test_a_retrieval_that_recorded_documents_is_told_of_elsewhere():
    assert find(retriever(2, documents=["a"]), generation(3, turns=[POLITE])) is None


@pytest.mark.parametrize("role", ["system", "user"])
def test_a_marked_section_of_the_final_generations_turns_is_the_context(role):
    found = find(retriever(2), generation(3, turns=[(role, "Context:\na\nQuestion: q")]))
    assert texts(found) == ["a"]
    assert found[1] == cite(f"test:{role}_message", is_exact=False)


def test_the_section_of_another_generation_is_none():
    title = generation(4, turns=[("user", "<context>the whole conversation</context>")])
    final = generation(3, answer="The answer.", turns=[POLITE])
    assert find(retriever(2), final, title)[0] is None


def test_the_final_generations_own_variables_go_before_those_of_others():
    final = generation(4, answer="The answer.", prompted=("own",))
    assert texts(find(generation(3, prompted=("other",)), final)) == ["own"]
    assert texts(find(generation(3, prompted=("other",)), final, generation(5, prompted=("title",)))) == [
        "own"
    ]


def test_variables_of_the_template_before_it_are_the_final_generations():
    final = generation(4, answer="The answer.")
    assert texts(find(make_step(2, 1, prompted=("old",)), make_step(3, 1, prompted=("text",)), final)) == [
        "text"
    ]


def test_what_was_prompted_after_the_final_generation_or_for_a_check_is_no_context():
    final = generation(4, answer="The answer.")
    assert find(final, make_step(5, 1, prompted=("title",))) is None
    check = make_step(2, 1, kind=StepKind.CHECK)
    assert find(check, generation(3, 2, prompted=("checked",)), final) is None
