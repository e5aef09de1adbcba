import pytest

from builders.steps import make_step
from ragsonde.extraction.conversation import find_conversation
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.trace import Turn

QUESTION = "How long does a refund take?"
ANSWER = "14 days."


def retriever(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.RETRIEVER, **fields)


def generation(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.GENERATION, **fields)


def find(*steps):
    return find_conversation(StepTree(steps))


def test_the_question_is_what_the_entry_was_asked():
    found = find(make_step(1, question=QUESTION), retriever(2, question="other"))
    assert found.query == Found(QUESTION, cite("test:root_input"))


def test_a_conventions_own_rule_is_kept():
    asked = Found(QUESTION, cite("test:trace.input", is_exact=False))
    assert find(make_step(1, question=asked)).query == asked


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        ((retriever(2, question=QUESTION), generation(3, turns=[("user", "x")])), "test:retriever_input"),
        ((make_step(2, 1, kind=StepKind.RERANKER, question=QUESTION),), "test:reranker_query"),
        (
            (generation(2, turns=[("user", "x")]), generation(3, turns=[("user", "y"), ("user", QUESTION)])),
            "test:last_user_message",
        ),
    ],
)
def test_else_it_comes_from_the_next_place(steps, rule):
    assert find(make_step(1), *steps).query == Found(QUESTION, cite(rule, is_exact=False))
    assert find(make_step(1, question=" "), *steps).query.value == QUESTION


def test_the_turns_before_the_question_are_what_user_and_assistant_said():
    turns = [
        ("system", "s"),
        ("user", "Hello"),
        ("assistant", "Hi"),
        ("tool", "t"),
        ("user", QUESTION),
        ("assistant", "draft"),
    ]
    found = find(
        make_step(1, question=QUESTION), generation(2, turns=[("user", "x")]), generation(3, turns=turns)
    )
    assert found.turns == (Turn(role="user", content="Hello"), Turn(role="assistant", content="Hi"))


def test_turns_and_question_are_the_final_generations_not_those_of_one_beside_it():
    title = generation(9, answer="Refunds", turns=[("user", "Hello"), ("user", "Name this conversation.")])
    final = generation(3, answer=ANSWER, turns=[("user", QUESTION)])
    found = find(make_step(1, answer=ANSWER), final, title)
    assert (found.query.value, found.turns) == (QUESTION, ())
    found = find(make_step(1, answer=ANSWER), generation(3, answer=ANSWER), title)
    assert (found.query.value, found.turns) == (None, ())


def test_without_messages_there_are_no_turns():
    assert find(make_step(1, question=QUESTION), generation(2)).turns == ()
    assert find(generation(2, turns=[("system", "s")])).turns == ()


def test_the_answer_is_the_entrys():
    found = find(make_step(1, answer=ANSWER), generation(2, answer="draft"))
    assert found.answer == Found(ANSWER, cite("test:root_output"))


def test_else_it_is_the_text_of_the_generation_that_ended_last():
    steps = (generation(2, end=50, answer=ANSWER), generation(3, end=40, answer="draft"))
    expected = Found(ANSWER, cite("test:last_output_message", is_exact=False))
    assert expected == find(make_step(1), *steps).answer


def test_or_of_a_generation_that_wraps_the_one_that_ended_last():
    wrapper = generation(2, end=60, answer=ANSWER)
    assert find(make_step(1), wrapper, generation(3, parent=2, end=50)).answer.value == ANSWER


def test_where_the_final_generation_recorded_no_text_an_earlier_one_does_not_answer_for_it():
    steps = (generation(2, answer="What is the price of X?"), generation(3))
    assert find(make_step(1), *steps).answer == Found()


def test_a_run_that_ended_in_a_tool_call_has_no_answer():
    steps = (generation(2, answer="Let me look."), generation(3, answer=""))
    assert find(make_step(1), *steps).answer == Found()
    assert find(make_step(1, answer=""), generation(2, answer="x")).answer == Found()


def test_a_generation_beside_others_under_a_web_frameworks_span_does_not_answer_for_them():
    web = make_step(1, convention="")
    assert find(web, generation(2, answer=""), generation(3, answer=ANSWER)).answer.value == ANSWER
    assert find(web, generation(2, answer="plan"), generation(3, answer=ANSWER)).answer.value == ANSWER


def test_of_nothing_nothing_is_found():
    found = find(make_step(1))
    assert (found.query, found.turns, found.answer) == (Found(), (), Found())


def test_of_runs_under_a_plain_span_the_first_asks_and_the_last_answers():
    steps = [
        make_step(1, convention="", end=100),
        make_step(2, 1, question="And the second one?", answer="How long does a refund take?"),
        make_step(3, 1, question="How long does a refund take?", answer="14 days."),
    ]
    found = find_conversation(StepTree(steps))
    assert (found.query.value, found.answer.value) == ("And the second one?", "14 days.")
    assert found.answer.evidence.confidence == "derived"


def test_the_marked_entry_answers_even_where_other_runs_stand_beside_it():
    steps = [
        make_step(1, convention="", end=100),
        make_step(2, 1, question="q", answer="a", is_entry=True),
        make_step(3, 1, question="judge this", answer="fine"),
    ]
    found = find_conversation(StepTree(steps))
    assert (found.query.value, found.answer.value) == ("q", "a")


@pytest.mark.parametrize("kind", [StepKind.TOOL, StepKind.RETRIEVER, StepKind.RERANKER])
def test_what_a_tool_or_a_retrieval_returned_is_no_answer(kind):
    steps = [
        make_step(1, convention="", end=100),
        make_step(2, 1, kind=kind, question="Rome", answer="sunny in Rome"),
        make_step(3, 1, kind=StepKind.GENERATION, answer="It is sunny."),
    ]
    assert find_conversation(StepTree(steps)).answer.value == "It is sunny."
    assert find_conversation(StepTree(steps[:2])).answer.value is None


def test_of_generations_whose_ends_are_unknown_the_last_one_answers():
    steps = [
        make_step(number, kind=StepKind.GENERATION, answer=answer, end=0)
        for number, answer in ((1, "a rewrite"), (2, "5 EUR"))
    ]
    assert find_conversation(StepTree(steps)).answer.value == "5 EUR"
