import pytest

from builders.steps import make_step
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.options import RetrievalOptions
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import StepKind
from ragsonde_schemas.trace import Reference


def generation(step_id, **fields):
    return make_step(step_id, 1, kind=StepKind.GENERATION, **fields)


def retriever(step_id, *documents, **fields):
    return make_step(step_id, 1, kind=StepKind.RETRIEVER, documents=documents, **fields)


def find_all(*steps, **fields):
    return find_in_steps(steps, format_name="test", trace_id="t", **fields)


def find(*steps, **fields):
    (found,) = find_all(*steps, **fields)
    return found


def test_what_is_known_of_the_record_is_kept():
    found = find(
        make_step(1), record_key="k", claimed_at="yesterday", latency_ms=1.5, warnings=("trace_id_derived",)
    )
    assert (found.format, found.trace_id, found.record_key) == ("test", "t", "k")
    assert (found.claimed_at, found.latency_ms, found.warnings) == ("yesterday", 1.5, ("trace_id_derived",))


def test_facts_come_from_the_entry_then_from_any_step():
    found = find(
        make_step(1, convention="", facts={"app": "gateway"}),
        make_step(2, 1, facts={"app": "shop", "tags": ("a",)}),
        make_step(3, 1, facts={"app": "x", "variant": "b", "reference": Reference(answer="r")}),
    )
    assert (found.app, found.tags, found.variant) == ("shop", ("a",), "b")
    assert found.reference == Reference(answer="r")


def test_a_derived_fact_holds_only_where_no_step_says_it_plainly():
    derived = Found("d", cite("test:metadata", is_exact=False))
    steps = (make_step(1, facts={"user_id": derived}), make_step(2, 1, facts={"user_id": "plain"}))
    assert find(*steps).user_id == "plain"
    found = find(steps[0])
    assert (found.user_id, found.evidence["user_id"]) == ("d", derived.evidence)


def test_the_model_is_the_last_generations_and_unknown_is_none():
    steps = (
        make_step(1, facts={"model": "root"}),
        generation(2, facts={"model": "first"}),
        generation(3, facts={"model": "last"}),
        generation(4, facts={"model": "Unknown"}),
        make_step(5, 1, facts={"model": "embedding"}),
    )
    assert find(*steps).model == "last"
    assert find(steps[0], steps[3]).model == "root"
    assert find(steps[3]).model is None


def test_tokens_are_summed_by_name_over_the_outermost_steps_that_count_them():
    steps = (
        make_step(1),
        generation(2, facts={"usage": {"prompt_tokens": 10}}),
        make_step(3, 2, facts={"usage": {"prompt_tokens": 4, "completion_tokens": 2}}),
        generation(4, facts={"usage": {"prompt_tokens": "5", "completion_tokens": "nan"}}),
    )
    assert find(*steps).usage == {"prompt_tokens": 15, "completion_tokens": 2}
    assert find(steps[0]).usage == {}


@pytest.mark.parametrize(
    ("costs", "total"),
    [((0.25, 0.5), 0.75), ((-1, 0.5), 0.5), (("x",), None), ((1e308, 1e308), None), ((None,), None)],
)
def test_costs_are_summed_where_they_are_costs(costs, total):
    steps = [generation(number, facts={"cost_usd": cost}) for number, cost in enumerate(costs, 2)]
    assert total == find(make_step(1), *steps).cost_usd


def test_evidence_tells_the_rule_of_each_field():
    found = find(make_step(1, question="q", answer="a"), retriever(2, "c", question="other"))
    assert {name: evidence.rule for name, evidence in found.evidence.items()} == {
        "query": "test:root_input",
        "answer": "test:root_output",
        "contexts": "test:retriever",
        "retrieval_query": "test:retriever_input",
    }


@pytest.mark.parametrize(("record_key", "keys"), [("", ["2", "3"]), ("7", ["7/2", "7/3"])])
def test_per_step_each_retrieval_is_a_record_of_its_own(record_key, keys):
    steps = (
        make_step(1, question="q", answer="a"),
        retriever(2, "c", question="q"),
        retriever(3, question="r"),
    )
    first, second = find_all(*steps, record_key=record_key, options=RetrievalOptions(retrievals="per_step"))
    assert keys == [first.record_key, second.record_key]
    assert [first.query, first.answer, second.query, second.answer] == ["q", "a", "q", "a"]
    assert [first.retrieval_query, second.retrieval_query] == [None, "r"]
    assert [context.content for context in first.contexts] == ["c"]
    assert second.contexts == ()


def test_warnings_of_the_choice_follow_those_of_the_record():
    steps = (retriever(2, "a"), generation(3, answer="x"), retriever(4, "b"))
    found = find(make_step(1), *steps, warnings=("mended",))
    assert found.warnings[0] == "mended"
    assert len(found.warnings) == 2
