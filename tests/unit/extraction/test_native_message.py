import pytest

from ragsonde.extraction.native_message import find_in_message
from ragsonde_schemas.decoded import DecodedMessage
from ragsonde_schemas.message import TraceMessage
from ragsonde_schemas.trace import EvaluationWish, Reference, Turn

USER = {"role": "user", "content": "How long does a refund take?"}
ASSISTANT = {"role": "assistant", "content": "14 days."}
EARLIER = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def find(**fields):
    message = TraceMessage.model_validate({"trace_id": "t-1", **fields})
    return find_in_message(DecodedMessage(message=message))


def turns(*messages):
    return tuple(Turn(**message) for message in messages)


def test_the_last_user_turn_is_the_question_and_what_was_before_is_history():
    found = find(messages=[*EARLIER, USER])
    assert (found.query, found.answer, found.turns) == (USER["content"], None, turns(*EARLIER))
    assert found.evidence["query"].rule == "native:messages"


def test_a_last_assistant_turn_is_the_answer_where_none_is_given():
    found = find(messages=[*EARLIER, USER, {"role": "tool", "content": "x"}, ASSISTANT])
    assert found.answer == "14 days."
    assert found.evidence["answer"].rule == "native:messages"
    found = find(messages=[USER, ASSISTANT], answer="Two weeks.")
    assert found.answer == "Two weeks."
    assert found.evidence["answer"].rule == "native:answer"


def test_an_assistant_turn_before_the_question_is_no_answer():
    assert find(messages=[ASSISTANT, USER]).answer is None


def test_an_empty_answer_is_an_answer_of_its_own():
    assert find(messages=[USER, ASSISTANT], answer="").answer == ""


def test_a_question_that_repeats_the_last_user_turn_is_that_turn():
    found = find(query=f" {USER['content']} ", messages=[*EARLIER, USER, ASSISTANT])
    assert (found.query, found.answer, found.turns) == (f" {USER['content']} ", "14 days.", turns(*EARLIER))


def test_with_a_question_of_its_own_all_messages_are_history():
    found = find(query="And abroad?", messages=[USER, ASSISTANT])
    assert (found.query, found.answer, found.turns) == ("And abroad?", None, turns(USER, ASSISTANT))
    assert found.evidence["query"].rule == "native:query"


def test_messages_without_a_user_turn_give_no_question_and_a_warning():
    found = find(messages=[ASSISTANT])
    assert (found.query, found.answer) == (None, None)
    assert found.warnings == ("messages: no turn with role user, so there is no query",)


@pytest.mark.parametrize(
    ("contexts", "texts"),
    [(None, None), ([], ()), ("one", ("one",)), ("", ("",)), (["", {"content": "b"}, "c"], ("", "b", "c"))],
)
def test_contexts_keep_their_order_and_unknown_is_not_empty(contexts, texts):
    found = find(contexts=contexts).contexts
    assert texts == (None if found is None else tuple(context.content for context in found))


def test_all_of_a_context_is_kept():
    given = {"content": "c", "id": "1", "score": 0.5, "source_uri": "faq.md", "metadata": {"page": 1}}
    (context,) = find(contexts=[given]).contexts
    assert context._asdict() == {**given, "origin": "producer", "retrieval_step": None}


@pytest.mark.parametrize(
    ("given", "reference"),
    [
        (None, None),
        ("x", Reference(answer="x")),
        ({}, None),
        ({"answer": "x"}, Reference(answer="x")),
        ({"contexts": ["c"], "context_ids": ["1"]}, Reference(contexts=("c",), context_ids=("1",))),
    ],
)
def test_a_reference_is_a_text_or_an_object(given, reference):
    assert reference == find(reference=given).reference


def test_the_producers_wish_is_kept():
    assert find().wish == EvaluationWish()
    wish = find(evaluation={"scorers": ["context_position"], "sample_rate": 0.0}).wish
    assert wish == EvaluationWish(scorers=("context_position",), sample_rate=0.0)


def test_without_a_sampling_probability_everything_was_published():
    assert find().sampling_probability == 1.0
    assert find(sampling_probability=0.1).sampling_probability == 0.1


def test_evidence_names_what_was_there_and_nothing_else():
    found = find(query="q", contexts=[], app="shop")
    assert {name: evidence.rule for name, evidence in found.evidence.items()} == {
        "query": "native:query",
        "contexts": "native:contexts",
        "app": "native:app",
    }


def test_contexts_known_by_id_alone_have_unknown_texts():
    found = find(contexts=[{"id": "a", "score": 0.5}, {"id": "b", "content": None}, {"content": "x"}])
    assert [(context.id, context.content) for context in found.contexts] == [
        ("a", None),
        ("b", None),
        (None, "x"),
    ]
