import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.retrieval_steps import ROOT, choose, find, generation, places, reranker, retriever, texts, tool
from builders.steps import make_step
from ragsonde.extraction.documents import Document
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.options import RetrievalOptions
from ragsonde.extraction.retrievals import choose_contexts
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind


def test_retrievers_are_united_in_order_of_time_whatever_order_they_came_in():
    found = find(retriever(3, "b"), generation(4), retriever(2, "a"))
    assert places(found) == [("a", 0), ("b", 1)]
    assert found.warnings == ()
    assert found.evidence == cite("test:retriever")


def test_what_was_retrieved_after_the_final_generation_started_is_left_out_and_told():
    found = find(retriever(2, "a"), generation(3, answer="The answer."), retriever(4, "b"))
    assert texts(found) == ["a"]
    assert found.warnings == ("contexts: 1 of 2 retrievals did not reach the final generation",)


def test_a_retrieval_between_two_generations_reached_the_second_one():
    assert texts(find(generation(2), retriever(3, "a"), generation(4))) == ["a"]


def test_a_retrieval_at_the_very_time_of_the_generation_counts():
    assert texts(find(retriever(2, "a", start=50), generation(3, start=50))) == ["a"]


def test_contexts_are_unknown_where_all_were_retrieved_after_the_generation_that_answered():
    found = find(generation(2, answer="The answer."), retriever(3, "a"))
    assert found.contexts is None
    assert found.warnings == ("contexts: 1 of 1 retrievals did not reach the final generation",)


def test_where_the_generation_that_answered_was_not_recorded_all_retrievals_count():
    found = find(generation(2, answer="rewritten question"), retriever(3, "a"))
    assert texts(found) == ["a"]
    assert found.warnings == ()


def test_without_any_generation_all_retrievals_count():
    assert texts(find(retriever(2, "a"), retriever(3, "b"))) == ["a", "b"]


def test_a_generation_that_wraps_the_whole_run_is_not_the_final_one():
    wrapper = generation(2, end=800)
    assert texts(find(wrapper, retriever(3, "a", parent=2), generation(4, 2))) == ["a"]


def test_what_was_retrieved_inside_the_only_generation_reached_it():
    wrapper = generation(2, end=800, answer="The answer.")
    found = find(generation(3, answer="rewritten", start=10), wrapper, retriever(4, "a", parent=2))
    assert (texts(found), found.warnings) == (["a"], ())


def test_without_times_all_retrievals_count():
    untimed = {"start": 0, "end": 0}
    assert texts(find(generation(3, **untimed), retriever(2, "a", **untimed))) == ["a"]


def test_the_last_reranker_supersedes_and_earlier_ones_are_told():
    found = find(retriever(2, "a", "b"), reranker(3, "b"), reranker(4, "a"), generation(5))
    assert places(found) == [("a", 2)]
    assert {context.origin for context in found.contexts} == {"reranker"}
    assert found.warnings == (
        "contexts: 1 of 3 retrievals are left out: what was ranked after them is judged",
    )


def test_a_reranker_of_its_retrievers_documents_is_no_reason_to_warn():
    assert find(retriever(2, "a", "b"), reranker(3, "b"), generation(4)).warnings == ()


def test_a_retrieval_after_the_last_reranker_is_told():
    found = find(retriever(2, "a"), reranker(3, "a"), retriever(4, "b"), generation(5))
    assert texts(found) == ["a"]
    assert found.warnings == ("contexts: 1 of 3 retrievals are left out: they came after the last reranker",)


def test_a_reranker_that_left_nothing_is_an_empty_retrieval():
    assert find(retriever(2, "a"), reranker(3)).contexts == ()


def test_a_reranker_without_any_text_leaves_the_retrievers():
    found = find(retriever(2, "a"), reranker(3, Document(None, None, 0.9)))
    assert texts(found) == ["a"]


def test_ids_without_texts_are_kept_for_a_resolver():
    found = find(retriever(2, Document(None, "1"), Document(None, "2"), Document(None, "1")))
    assert [(context.content, context.id) for context in found.contexts] == [(None, "1"), (None, "2")]
    assert found.warnings == ("contexts: 2 of 2 documents have no text",)


def test_equal_id_and_text_count_once_unless_asked_otherwise():
    documents = [Document("a", "1"), Document("a", "2"), Document("a", "1")]
    assert [context.id for context in find(retriever(2, *documents)).contexts] == ["1", "2"]
    found = find(retriever(2, *documents), deduplicate=False)
    assert [context.id for context in found.contexts] == ["1", "2", "1"]


def test_union_is_all_that_was_retrieved():
    found = find(retriever(2, "a"), reranker(3, "a"), generation(4), retriever(5, "b"), retrievals="union")
    assert places(found) == [("a", 0), ("b", 2)]
    assert found.warnings == ()


def test_per_step_each_retrieval_is_chosen_with_its_own_question():
    steps = (
        retriever(2, "a", question="first?"),
        retriever(3, "b", "a", question="second?"),
        retriever(4, "x", parent=3),
        generation(5),
    )
    first, second = choose(*steps, retrievals="per_step")
    assert (first.step_id, first.question, places(first)) == ("2", Found("first?"), [("a", 0)])
    assert (second.step_id, second.question, places(second)) == (
        "3",
        Found("second?"),
        [("b", 1), ("a", 1)],
    )


def test_per_step_without_any_retrieval_there_is_one_choice():
    (found,) = choose(generation(2), retrievals="per_step")
    assert (found.step_id, found.contexts) == ("", None)


def test_then_comes_what_the_prompt_was_filled_with():
    found = find(generation(2, turns=[("system", "instructions")], prompted=("text",)))
    assert texts(found) == ["text"]
    assert {context.origin for context in found.contexts} == {"prompt"}
    assert found.evidence == cite("test:prompt_variables", is_exact=False)
    assert found.warnings == ("contexts: no span recorded documents; read from the prompt as one text",)


def test_a_section_of_the_system_message_is_a_context_only_where_a_retrieval_ran():
    model = generation(3, turns=[("system", "Be kind.\n<context>a</context>"), ("user", "q")])
    assert find(model).contexts is None
    assert find(tool(2), model).contexts == ()
    assert texts(find(make_step(2, 1, kind=StepKind.RETRIEVER), model)) == ["a"]


def test_without_anything_contexts_are_unknown():
    assert find(generation(2)).contexts is None


STEPS = st.lists(
    st.builds(
        lambda number, parent, kind, documents, start: make_step(
            number, parent, kind=kind, documents=documents, start=start
        ),
        st.integers(2, 7),
        st.none() | st.integers(1, 7),
        st.sampled_from(StepKind),
        st.none()
        | st.lists(st.sampled_from(["a", "b", Document("a", "1"), Document(None, "1")]), max_size=3),
        st.integers(0, 90),
    ),
    max_size=7,
    unique_by=lambda step: step.id,
)


@given(STEPS)
def test_with_union_nothing_that_an_outermost_retriever_delivered_is_lost(steps):
    tree = StepTree([ROOT, *steps])
    (found,) = choose_contexts(tree, options=RetrievalOptions(retrievals="union"))
    retrievers = [step for step in tree.steps if step.kind is StepKind.RETRIEVER]
    filtered = {
        step.id
        for step in retrievers
        if any(
            above.kind is StepKind.RETRIEVER and above.documents == () and step.end_ns <= above.end_ns
            for above in tree.ancestors(step)
        )
    }
    carrying = [step for step in retrievers if step.documents and step.id not in filtered]
    delivered = {document.content for step in tree.outermost(carrying) for document in step.documents}
    assert set() == delivered - {None} - {context.content for context in found.contexts or ()}


@given(STEPS, st.sampled_from(["last", "union"]))
def test_no_context_comes_twice(steps, retrievals):
    found = find(*steps, retrievals=retrievals)
    pairs = [(context.id, context.content) for context in found.contexts or ()]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("retrievals", ["last", "union"])
@given(steps=STEPS)
def test_retrieval_steps_never_run_backwards(retrievals, steps):
    found = find(*steps, retrievals=retrievals)
    numbers = [context.retrieval_step for context in found.contexts or ()]
    assert numbers == sorted(numbers)
