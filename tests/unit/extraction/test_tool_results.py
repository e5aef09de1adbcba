import time

import pytest

from builders.retrieval_steps import choose, find, generation, places, reranker, retriever, texts, tool
from builders.steps import make_step
from ragsonde.extraction.documents import Document, NullItem
from ragsonde.extraction.findings import cite
from ragsonde.extraction.options import RetrievalOptions
from ragsonde.extraction.retrievals import choose_contexts
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind
from ragsonde.extraction.tool_results import find_tool_steps


def test_a_tools_output_is_a_context_only_if_a_generation_starts_after_it():
    found = find(generation(2), tool(3, "a"), generation(4), tool(5, "b"))
    assert texts(found) == ["a"]
    assert {context.origin for context in found.contexts} == {"tool"}
    assert found.evidence == cite("test:tool")
    assert find(tool(2, "a")).contexts is None
    assert find(generation(2, start=10), tool(3, "a", start=15)).contexts is None


def test_a_generation_that_started_while_the_tool_ran_did_not_see_its_output():
    assert find(tool(2, "a", start=20, end=60), generation(3, start=40)).contexts is None


def test_without_times_a_generation_that_is_written_after_the_tool_started_after_it():
    untimed = {"start": 0, "end": 0}
    root = make_step(1, **untimed)
    tree = StepTree([root, tool(2, "a", **untimed), generation(3, **untimed)])
    (found,) = choose_contexts(tree, options=RetrievalOptions())
    assert texts(found) == ["a"]
    tree = StepTree([root, generation(3, **untimed), tool(2, "a", **untimed)])
    (found,) = choose_contexts(tree, options=RetrievalOptions())
    assert found.contexts is None


@pytest.mark.parametrize("kind", [StepKind.CHECK, StepKind.GUARD])
def test_what_a_check_retrieved_leaves_the_tools_output(kind):
    check = make_step(2, 1, kind=kind, end=28)
    checked = retriever(3, "a known attack", parent=2, start=21, end=25)
    assert texts(find(check, checked, tool(4, "a"), generation(5))) == ["a"]


def test_equal_texts_of_tools_count_once_whatever_their_ids():
    steps = (tool(2, Document("a", "1")), tool(3, Document("a", "2"), "b"), generation(4))
    assert places(find(*steps)) == [("a", 0), ("b", 1)]


def test_a_tool_in_a_tool_is_a_part_of_it():
    assert texts(find(tool(2, "answer", end=60), tool(3, "x", parent=2), generation(7))) == ["answer"]


def test_tools_count_only_where_no_retriever_recorded_documents():
    assert texts(find(retriever(2, "a"), tool(3, "b"), generation(4))) == ["a"]
    unrecorded = make_step(2, 1, kind=StepKind.RETRIEVER)
    assert texts(find(unrecorded, tool(3, "b"), generation(4))) == ["b"]


def test_a_search_tool_that_found_nothing_is_an_empty_retrieval():
    assert find(tool(2), generation(3)).contexts == ()


def test_without_tool_steps_the_results_in_the_final_generations_messages_count():
    turns = [
        ("user", "earlier"),
        ("tool", "old"),
        ("assistant", "ok"),
        ("user", "now"),
        ("tool", '[{"text": "a", "id": "1"}, "b"]'),
        ("tool", "plain"),
    ]
    found = find(generation(2), generation(3, turns=turns))
    assert [(context.content, context.id) for context in found.contexts] == [
        ("a", "1"),
        ("b", None),
        ("plain", None),
    ]
    assert {context.origin for context in found.contexts} == {"tool"}
    assert found.evidence == cite("test:tool_message")


def test_a_tool_step_that_recorded_its_result_goes_before_the_messages():
    found = find(tool(2, "a"), generation(3, turns=[("user", "q"), ("tool", "a"), ("tool", "x")]))
    assert texts(found) == ["a"]


@pytest.mark.parametrize("empty", [retriever(2), reranker(2)])
def test_after_a_retrieval_that_found_nothing_what_tools_then_delivered_counts(empty):
    found = find(empty, tool(3, "a"), tool(4, "b"), generation(5))
    assert places(found) == [("a", 1), ("b", 2)]
    assert {context.origin for context in found.contexts} == {"tool"}
    assert found.evidence == cite("test:tool")


def test_a_tool_beside_the_retrieval_that_found_nothing_counts_and_one_before_it_does_not():
    beside = tool(2, "a", end=35)
    assert texts(find(beside, retriever(3), generation(5))) == ["a"]
    assert find(tool(2, "profile"), retriever(3), generation(5)).contexts == ()


def test_without_times_the_place_tells_whether_a_tool_came_after_the_retrieval():
    untimed = {"start": 0, "end": 0}
    after = [retriever(2, **untimed), tool(3, "a", **untimed), generation(4, **untimed)]
    assert texts(find(*after)) == ["a"]
    assert find(after[1], after[0], after[2]).contexts == ()


def test_what_a_tool_around_or_inside_an_empty_retrieval_says_is_no_other_source():
    around = (tool(2, "Nothing found.", end=40), retriever(3, parent=2))
    assert find(*around, generation(5)).contexts == ()
    inside = (retriever(2, end=40), tool(3, "a", parent=2))
    assert find(*inside, generation(5)).contexts == ()


def test_a_tool_after_the_final_generation_or_without_documents_leaves_the_retrieval_empty():
    assert find(retriever(2), generation(3, answer="The answer."), tool(4, "a")).contexts == ()
    assert find(retriever(2), tool(3), generation(4)).contexts == ()
    assert find(retriever(2), tool(3, NullItem(None)), generation(4)).contexts == ()


def test_one_retrieval_that_found_something_is_enough_for_tools_not_to_count():
    assert texts(find(retriever(2), retriever(3, "a"), tool(4, "b"), generation(5))) == ["a"]


def test_per_step_the_empty_retrieval_and_the_tool_are_a_record_each():
    first, second = choose(retriever(2), tool(3, "a"), generation(4), retrievals="per_step")
    assert (first.step_id, first.contexts) == ("2", ())
    assert (second.step_id, places(second)) == ("3", [("a", 1)])


def test_what_a_tool_returned_as_nulls_only_is_unknown():
    assert find(tool(2, NullItem(None)), generation(3)).contexts is None


@pytest.mark.parametrize("result", [" ", "null", '"null"', '{"output": null}'])
def test_blank_results_in_messages_are_unknown(result):
    assert find(generation(2, turns=[("user", "q"), ("tool", result)])).contexts is None
    found = find(generation(2, turns=[("user", "q"), ("tool", result), ("tool", "a")]))
    assert texts(found) == ["a"]


def test_an_empty_list_in_messages_is_an_empty_retrieval():
    assert find(generation(2, turns=[("user", "q"), ("tool", "[]")])).contexts == ()


def test_what_is_said_beside_results_is_no_new_question():
    turns = [("user", "q"), ("tool", "a"), ("system", "be brief"), ("tool", "b"), ("system", "go on")]
    assert texts(find(generation(2, turns=turns))) == ["a", "b"]


def test_results_of_an_earlier_question_do_not_count():
    turns = [("user", "q"), ("tool", "a"), ("assistant", "x"), ("user", "and?")]
    assert find(generation(2, turns=turns)).contexts is None


def test_a_tool_inside_a_generation_that_went_on_and_answered_reached_it():
    loop = generation(2, end=90, answer="x")
    inner = make_step(3, 2, end=60)
    assert texts(find(loop, inner, tool(4, "a", parent=3))) == ["a"]
    assert find(generation(2, end=42, answer="x"), inner, tool(4, "a", parent=3)).contexts is None
    assert find(generation(2, end=90), inner, tool(4, "a", parent=3)).contexts is None


def test_ten_thousand_tools_inside_each_other_take_no_longer_than_their_number_asks():
    steps = [make_step(1, kind=StepKind.GENERATION, answer="x", end=10**6)]
    steps += [
        make_step(number, number - 1, kind=StepKind.TOOL, documents=[], end=10**6 - number)
        for number in range(2, 10_002)
    ]
    tree = StepTree(steps)
    began = time.process_time()
    assert len(find_tool_steps(tree)) == 10_000
    assert time.process_time() - began < 1
