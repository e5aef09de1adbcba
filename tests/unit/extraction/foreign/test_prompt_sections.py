import pytest

from ragsonde.extraction.foreign.prompt_sections import find_prompt_section

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
    ],
)
def test_the_section_that_the_words_announce_is_found(text):
    assert find_prompt_section(text) == FACT


@pytest.mark.parametrize(
    "text", ["", "Be polite.", "You know the context well.", "Context:", "<context></context>"]
)
def test_where_nothing_is_announced_there_is_no_section(text):
    assert find_prompt_section(text) is None


def test_many_tags_cost_no_time():
    assert find_prompt_section("<context>" * 100_000) is not None
