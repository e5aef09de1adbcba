import pytest

from ragsonde.extraction.prompt_sections import find_prompt_section, find_section_given
from ragsonde_schemas.trace import Turn

FACT = "A refund takes 14 days."


@pytest.mark.parametrize(
    "text",
    [
        f"Answer from the context only.\n\nContext:\n{FACT}",
        f"Use these documents:\n{FACT}\n\nQuestion: How long?",
        f"## Retrieved context:\n{FACT}",
        f"**Sources:** {FACT}",
        f"Answer.\n<context>\n{FACT}\n</context>\nBe brief.",
        f"<Documents>{FACT}",
        f"Here is the relevant context from our knowledge base:\n{FACT}",
        f"Context information is below.\n-----\n{FACT}\n-----\nAnswer the query.\nQuery: How long?\nAnswer: ",
        f"Question: How long?\nContext: {FACT}\nAnswer:",
        f"Context:\n{FACT}\nHelpful Answer:",
        f"Context:\n{FACT}\n\nRules:\n- be brief\n- never lie",
        f"## Context:\n{FACT}\n\n## Instructions\nBe brief.",
        f"**Sources:**\n{FACT}\n**Output format**\nOne sentence.",
        f"Context:\n{FACT}\n\nChat history:\nuser: hi\n\nQuestion: How long?",
        f"Use the <context> tags.\n\nContext:\n{FACT}",
    ],
)
def test_the_section_that_the_words_announce_is_found(text):
    assert find_prompt_section(text) == FACT


@pytest.mark.parametrize(
    "text", ["", "Be polite.", "You know the context well.", "Context:", "<context></context>"]
)
def test_where_nothing_is_announced_there_is_no_section(text):
    assert find_prompt_section(text) is None


@pytest.mark.parametrize(
    "document", ["Returns:\nFree.\n\nTask force:\nNone.", "The rules: none.", "# Refunds\n\n## Steps\nWait."]
)
def test_what_a_document_heads_itself_is_a_part_of_it(document):
    assert find_prompt_section(f"Context:\n{document}\n\nRules:\n- be brief") == document


def find_given(*turns):
    return find_section_given([Turn(role=role, content=content) for role, content in turns])


def test_the_section_of_the_last_question_goes_before_that_of_the_system():
    system, user = ("system", "Sources:\nold"), ("user", f"Context:\n{FACT}\n\nQuestion: How long?")
    assert find_given(system, user) == (FACT, "user")
    assert find_given(system, ("user", "How long?")) == ("old", "system")
    assert find_given(("user", f"<context>{FACT}</context>"), ("user", "How long?")) == (FACT, "user")


def test_what_an_earlier_question_was_given_is_no_section_of_the_last_one():
    earlier = ("user", "Context:\nold\n\nQuestion: Hi?")
    assert find_given(earlier, ("assistant", "Hi"), ("user", "How long?")) is None
    again = ("user", f"Context:\n{FACT}\n\nQuestion: How long?")
    assert find_given(earlier, ("assistant", "Hi"), again) == (FACT, "user")


@pytest.mark.parametrize(
    "asked",
    ["Which documents do I need: passport or identity card?", "My sources: two letters.\nIs that enough?"],
)
def test_a_users_own_words_are_no_section(asked):
    assert find_given(("system", "Be polite."), ("user", asked)) is None


def test_messages_that_mark_nothing_have_no_section():
    assert find_given(("system", "You are a polite assistant."), ("user", "How long?")) is None
    assert find_given() is None
