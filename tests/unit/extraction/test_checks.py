import pytest

from builders.steps import make_step
from ragsonde.extraction.conversation import find_conversation
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind

QUESTION, ANSWER = "How long does a refund take?", "14 days."
ROOT = make_step(1, question=QUESTION, end=900)
FOUND = make_step(10, 1, kind=StepKind.RETRIEVER, documents=["d"])


def guard(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.GUARD, end=800, **fields)


def generation(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.GENERATION, **fields)


def answer(*steps):
    return find_conversation(StepTree(steps)).answer.value


def test_a_guardrail_around_the_model_call_that_answered_is_a_part_of_the_application():
    steps = (ROOT, FOUND, guard(20), generation(21, 20, answer=ANSWER))
    tree = StepTree(steps)
    assert (answer(*steps), tree.final_generation.id) == (ANSWER, "21")
    assert tree.steps[2].kind is StepKind.OTHER
    assert answer(ROOT, FOUND, guard(20), guard(21, 20), generation(22, 21, answer=ANSWER)) == ANSWER
    web = make_step(1, convention="", end=900)
    assert answer(web, FOUND, guard(20), generation(21, 20, answer=ANSWER)) == ANSWER


def test_a_guardrail_after_it_checks_the_answer():
    wrapping = (guard(20), generation(21, 20, answer=ANSWER))
    later = make_step(40, 1, kind=StepKind.GUARD), generation(41, 40, answer="harmless")
    assert answer(ROOT, FOUND, *wrapping, *later) == ANSWER
    assert answer(ROOT, FOUND, generation(20, answer=ANSWER), *later) == ANSWER
    assert answer(ROOT, FOUND, generation(20), *later) is None
    assert StepTree([ROOT, FOUND, generation(20), *later]).steps[3].kind is StepKind.CHECK


def test_a_guardrail_before_the_retrieval_checks_the_question():
    before = make_step(2, 1, kind=StepKind.GUARD), generation(3, 2, answer="harmless")
    assert answer(ROOT, *before, FOUND) is None
    assert answer(ROOT, *before, FOUND, guard(20), generation(21, 20, answer=ANSWER)) == ANSWER
    assert answer(ROOT, *before) is None


@pytest.mark.parametrize("inner", [StepKind.GUARD, StepKind.CHECK])
def test_an_evaluator_answers_nobody_whatever_is_inside(inner):
    judged = make_step(20, 1, kind=StepKind.CHECK), make_step(21, 20, kind=inner)
    assert answer(ROOT, FOUND, *judged, generation(22, 21, answer="grounded")) is None
    nested = guard(20), make_step(21, 20, kind=StepKind.CHECK)
    assert answer(ROOT, FOUND, *nested, generation(22, 21, answer="grounded")) is None


def test_a_guardrail_whose_model_call_said_something_else_than_the_run_only_checks():
    run = make_step(1, question=QUESTION, answer=ANSWER, end=900)
    steps = StepTree([run, FOUND, guard(20), generation(21, 20, answer="harmless")])
    assert (steps.final_generation, steps.steps[2].kind) == (None, StepKind.CHECK)
    steps = StepTree([run, FOUND, guard(20), generation(21, 20, answer=f"{ANSWER}\n")])
    assert steps.final_generation.id == "21"
