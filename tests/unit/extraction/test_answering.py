import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.steps import make_step
from ragsonde.extraction.conversation import find_conversation
from ragsonde.extraction.findings import Found
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind

WEB = make_step(1, convention="", end=1000)
ASKED, ANSWER = "And the second one?", "14 days."


def chain(step_id, parent=1, **fields):
    return make_step(step_id, parent, **fields)


def retriever(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.RETRIEVER, **fields)


def tool(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.TOOL, **fields)


def generation(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.GENERATION, **fields)


def check(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.CHECK, **fields)


REWRITE = chain(2, question=ASKED, answer="How long does a refund take?")
TITLE = generation(90, answer="Refunds", turns=[("user", "Hi"), ("user", "Name this conversation.")])


def find(*steps):
    return find_conversation(StepTree([WEB, *steps]))


def answer(*steps):
    return find(*steps).answer.value


@pytest.mark.parametrize("title", [TITLE, chain(90, question="Name this.", answer="Refunds")])
def test_what_comes_after_the_run_that_the_retrieval_reached_does_not_answer(title):
    run = chain(10, question="How long does a refund take?", answer=ANSWER, end=200)
    inner = (retriever(12, 10), generation(14, 10, answer=ANSWER))
    found = find(REWRITE, run, *inner, title)
    assert (found.query.value, found.answer.value) == (ASKED, ANSWER)
    assert found.answer.evidence.confidence == found.query.evidence.confidence == "derived"
    assert answer(retriever(5), run, title) == ANSWER
    assert answer(REWRITE, retriever(5), generation(10, answer=ANSWER), title) == ANSWER


def test_a_retrieval_that_nothing_follows_leaves_the_answer_to_the_one_before():
    steps = (retriever(3), generation(10, answer=ANSWER), TITLE, retriever(95))
    assert answer(*steps) == ANSWER


def test_of_several_retrievals_the_last_one_counts():
    steps = (
        retriever(3),
        generation(5, answer="a better question"),
        retriever(7),
        generation(10, answer=ANSWER),
    )
    assert answer(*steps, TITLE) == ANSWER


def test_a_run_without_readable_text_is_answered_by_its_own_generation_only():
    run = chain(10, question=ASKED, end=200)
    assert answer(REWRITE, run, retriever(12, 10), generation(14, 10, answer=ANSWER), TITLE) == ANSWER
    assert answer(REWRITE, run, retriever(12, 10), generation(14, 10), TITLE) is None
    assert answer(REWRITE, run, retriever(12, 10), generation(14, 10, answer=""), TITLE) is None


def test_a_step_that_cannot_answer_is_no_run():
    prompt, wrapper = chain(6), chain(2, question=ASKED, answer="What was retrieved.")
    assert answer(retriever(5), prompt, generation(10, answer=ANSWER), TITLE) == ANSWER
    assert answer(wrapper, retriever(5, 2), generation(10, answer=ANSWER), TITLE) == ANSWER


def test_without_a_retrieval_the_last_of_the_runs_that_follow_each_other_answers():
    run = chain(10, question="x", answer=ANSWER)
    assert answer(REWRITE, run, TITLE) == ANSWER
    beside = chain(3, question="Name this.", answer="Refunds", end=400)
    assert answer(chain(2, question=ASKED, answer=ANSWER, end=300), beside) == ANSWER


def test_a_generation_that_started_before_the_retrieval_was_not_reached_by_it():
    slow_title = generation(2, answer="Refunds", end=500)
    assert answer(slow_title, retriever(5), generation(10, answer=ANSWER)) == ANSWER


def test_a_call_of_a_tool_that_was_run_is_passed_over():
    steps = (retriever(3), generation(5, answer=""), tool(7), generation(10, answer=ANSWER), TITLE)
    assert answer(*steps) == ANSWER
    assert answer(generation(5, answer=""), tool(7), generation(10, answer=ANSWER), TITLE) == ANSWER
    assert answer(retriever(3), generation(5, answer=""), TITLE) is None


def test_what_a_check_says_is_no_answer_and_what_it_is_asked_no_question():
    judged = (check(90, question="Is it grounded?", answer="yes"), generation(92, 90, answer="yes"))
    assert answer(retriever(3), generation(10, answer=ANSWER), *judged) == ANSWER
    before = (check(2, question="Is it harmless?", answer="yes"), generation(3, 2, answer="yes"))
    found = find(*before, chain(10, question=ASKED, answer=ANSWER))
    assert (found.query.value, found.answer.value) == (ASKED, ANSWER)
    root = make_step(1, question=ASKED)
    tree = StepTree([root, generation(10, answer=ANSWER), *judged])
    assert (tree.final_generation.id, find_conversation(tree).answer.value) == ("10", ANSWER)
    assert find_conversation(StepTree([root, *judged])).answer == Found()


def test_a_run_whose_links_are_lost_answers_for_the_parts_within_its_time():
    steps = [
        make_step(2, 99, question=ASKED, answer=ANSWER, start=10, end=500),
        retriever(5, 98),
        generation(10, 98, answer="a draft"),
    ]
    assert find_conversation(StepTree(steps)).answer.value == ANSWER


def test_runs_of_an_unknown_time_stand_in_the_order_given():
    untimed = {"start": 0, "end": 0}
    steps = [
        make_step(1, convention="", **untimed),
        generation(2, answer="a rewrite", **untimed),
        retriever(3, **untimed),
        generation(4, answer=ANSWER, **untimed),
        generation(5, answer="a title", **untimed),
    ]
    assert find_conversation(StepTree(steps)).answer.value == ANSWER


RUNS = st.lists(
    st.tuples(
        st.sampled_from(StepKind),
        st.none() | st.integers(1, 6),
        st.integers(0, 9),
        st.integers(0, 9),
        st.sampled_from([None, "", "text"]),
    ),
    max_size=6,
)


@given(RUNS)
def test_an_answer_is_never_that_of_a_check(runs):
    steps = [
        make_step(
            number,
            parent,
            kind=kind,
            start=start,
            end=start + length,
            question="q",
            answer=f"{number}" if text == "text" else text,
        )
        for number, (kind, parent, start, length, text) in enumerate(runs, 2)
    ]
    tree = StepTree([WEB, *steps])
    found = find_conversation(tree).answer
    spoken = {step.id for step in tree.steps if step.kind in {StepKind.GENERATION, StepKind.OTHER}}
    assert found.value is None or found.value in spoken
