import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.steps import make_step
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import StepKind

WEB = make_step(1, convention="", end=2000)
QUESTION, ANSWER = "How long does a refund take?", "14 days."
NAMING = f"Find a title for: {QUESTION}"


def run(number, question=QUESTION, answer=ANSWER, *, start=None, end=None, documents=("d",), **fields):
    """A chain with a retriever and a generation inside, 50 units of time long; none without documents."""
    start = number * 100 if start is None else start
    end = start + 50 if end is None else end
    yield make_step(number, 1, start=start, end=end, question=question, answer=answer, **fields)
    if documents is not None:
        yield retriever(number * 1000, *documents, parent=number, start=start + 1, question=question)
    times = {"start": start + 10, "end": end - 1}
    yield make_step(number * 1000 + 1, number, kind=StepKind.GENERATION, answer=answer, **times)


def retriever(step_id, *documents, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.RETRIEVER, documents=documents, **fields)


def generation(step_id, parent=1, **fields):
    return make_step(step_id, parent, kind=StepKind.GENERATION, **fields)


def find(*steps):
    (found,) = find_in_steps([WEB, *steps], format_name="test", trace_id="t")
    return found


def told(found):
    contexts = None if found.contexts is None else [context.content for context in found.contexts]
    return found.query, contexts, found.answer


def counted(found):
    return [warning.split()[1] for warning in found.warnings if warning.startswith("trace: ")]


TITLE = list(run(2, NAMING, "Refunds", documents=None))


def test_a_title_that_was_found_first_is_not_what_was_asked():
    found = find(*TITLE, *run(3))
    assert told(found) == (QUESTION, ["d"], ANSWER)
    assert (counted(found), found.evidence["query"].confidence) == (["2"], "derived")
    assert found.evidence["answer"].confidence == "derived"
    beside = run(2, NAMING, "Refunds", documents=None, end=320)
    assert told(find(*beside, *run(3))) == (QUESTION, ["d"], ANSWER)


def test_turns_that_follow_each_other_keep_their_contexts_apart():
    found = find(*run(2, "When do you open?", "At 9.", documents=["hours"]), *run(3))
    assert (told(found), counted(found)) == ((QUESTION, ["d"], ANSWER), ["2"])
    steps = [
        retriever(15, "hours"),
        *run(2, "When do you open?", "At 9.", documents=None),
        retriever(26, "d"),
    ]
    found = find(*steps, *run(3, documents=None))
    assert told(found) == (QUESTION, ["d"], ANSWER)


def test_runs_at_the_same_time_keep_their_contexts_apart():
    runs = [run(n, f"Question {n}?", f"Answer {n}.", start=100 + n, documents=[f"d{n}"]) for n in (2, 3, 4)]
    found = find(*(step for steps in runs for step in steps))
    assert (told(found), counted(found)) == (("Question 4?", ["d4"], "Answer 4."), ["3"])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("And the second one?", QUESTION), QUESTION),
        (("And the second one?", QUESTION), f"Answer this: {QUESTION}"),
        (("And the second one?", None), "Context: d\nQuestion: And the second one?"),
        (("And the second one?", "billing"), "And the second one?"),
    ],
)
def test_a_run_that_led_to_the_question_of_the_one_that_answered_was_asked(first, second):
    led = run(2, first[0], first[1], documents=["earlier"])
    found = find(*led, *run(3, second))
    assert told(found) == ("And the second one?", ["earlier", "d"], ANSWER)
    assert (counted(found), found.evidence["query"].confidence) == ([], "derived")


def test_what_led_to_it_is_followed_back_to_the_first():
    chain = (
        run(2, "And it?", "And a refund?", documents=None),
        run(3, "And a refund?", QUESTION, documents=None),
    )
    found = find(*chain[0], *chain[1], *run(4))
    assert told(found) == ("And it?", ["d"], ANSWER)


def test_a_label_that_stands_in_the_question_by_chance_did_not_lead_to_it():
    found = find(*run(2, "Which topic is it?", "refund", documents=None), *run(3))
    assert (found.query, counted(found)) == (QUESTION, ["2"])


def test_a_run_whose_answer_was_then_retrieved_for_is_a_part_of_the_same_turn():
    steps = [*run(2, "Who sells it?", "Ann", documents=["sellers"]), retriever(26, "ann", question="Ann")]
    found = find(*steps, *run(3, documents=None))
    assert (found.query, counted(found)) == (QUESTION, [])
    assert [context.content for context in found.contexts] == ["sellers", "ann"]


def test_a_title_is_no_turn_before_which_nothing_counts():
    steps = [make_step(10, 1, question=QUESTION), retriever(11, "d", parent=10), *TITLE]
    found = find(*steps, retriever(26, "e"), *run(3, documents=None))
    assert told(found) == (QUESTION, ["d", "e"], ANSWER)


def test_a_generation_that_answered_was_asked_what_the_first_run_was_unless_that_is_about_it():
    bare = (
        retriever(26, "d", question=QUESTION),
        generation(30, answer=ANSWER, turns=[("user", "d. Answer.")]),
    )
    assert find(*run(2, "And it?", "so", documents=None), *bare).query == "And it?"
    found = find(*TITLE, *bare)
    assert (told(found), found.evidence["query"].rule) == ((QUESTION, ["d"], ANSWER), "test:retriever_input")
    final = generation(30, answer=ANSWER, turns=[("user", QUESTION)])
    assert find(*TITLE, retriever(26, "d"), final).query == QUESTION


def test_a_generation_that_found_a_title_was_not_asked():
    final = generation(30, answer=ANSWER, turns=[("user", "d. Answer.")])
    title = generation(20, question=NAMING, answer="Refunds")
    assert find(title, retriever(26, "d", question=QUESTION), final).query == QUESTION


def test_only_whole_words_of_runs_that_had_ended_tell_what_led_to_a_question():
    assert find(*run(2, "fund", "no", documents=None), *run(3)).query == QUESTION
    assert find(*run(2, "And it?", QUESTION, documents=None, end=320), *run(3)).query == QUESTION


def test_generations_with_questions_of_their_own_are_runs_where_they_retrieved():
    first = generation(20, question="When do you open?", answer="At 9.", end=230)
    second = generation(30, question=QUESTION, answer=ANSWER, end=330)
    inside = retriever(21, "hours", parent=20, start=210), retriever(31, "d", parent=30, start=310)
    assert told(find(first, inside[0], second, inside[1])) == (QUESTION, ["d"], ANSWER)
    hops = (retriever(15, "hours"), first, retriever(25, "d"), second)
    assert told(find(*hops)) == (QUESTION, ["hours", "d"], ANSWER)


def test_what_is_common_to_the_trace_is_read_from_all_runs():
    steps = run(2, NAMING, "Refunds", documents=None, facts={"session_id": "s", "cost_usd": 0.5})
    found = find(*steps, *run(3, facts={"cost_usd": 0.25}))
    assert (found.session_id, found.cost_usd) == ("s", 0.75)


def test_one_run_alone_is_told_without_a_warning():
    assert counted(find(*run(2))) == []
    assert counted(find(*run(2), retriever(1500, "e"))) == []


TEXTS = st.sampled_from(["a b c", "d", "x a b c y", None])


@given(st.lists(st.tuples(TEXTS, TEXTS, st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=5))
def test_contexts_and_question_are_never_those_of_another_run_at_the_same_time(runs):
    steps = [
        step
        for number, (question, answer, start, length) in enumerate(runs, 2)
        for step in run(
            number, question, answer, start=start * 100, end=(start + length) * 100, documents=[str(number)]
        )
    ]
    found = find(*steps)
    by_number = dict(enumerate(runs, 2))
    used = {int(context.content) for context in found.contexts or ()}
    answered = [number for number in used if by_number[number][1] == found.answer]
    assert answered or found.answer is None
    if found.query is not None:
        assert found.query in {question for question, *_ in runs}
