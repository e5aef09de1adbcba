import time

import pytest

from ragsonde.extraction.tagged_sections import find_tagged

FACT = "A refund takes 14 days."


def find(text):
    return find_tagged(text, words="contexts?|documents?")


@pytest.mark.parametrize(
    "text",
    [
        f"Answer from the text in the <context> tags; if it is not there, say so.\n<context>{FACT}</context>",
        f"It is inside <context></context> XML tags.\n<context>\n{FACT}\n</context>",
        f"It is between <context> and </context>.\n\n<context>{FACT}</context>\n\nTrust <context> alone.",
        f"<context>{FACT}</context>\n\nAnswer from what `<context>` and `</context>` enclose.",
        f"Use the <context> block.\n<context>{FACT}</context>\nNothing after </context> is context.",
        f"<document>old</document> is an example.\n<Context>{FACT}</context>",
        f"The <context> tag holds what was found.\n<context>\n{FACT}",
    ],
)
def test_a_sentence_about_the_tags_is_not_what_they_enclose(text):
    assert find(text) == FACT


@pytest.mark.parametrize(
    "text",
    [
        "",
        FACT,
        "<context></context>",
        "Look inside <context> </context> XML tags.",
        "What is between <context> and </context> is true.",
        "Use the text in the <context> tags, if any.",
        "Text in the <context> tags ends with </context>.",
        "Trust what <context> says.",
        "Put the word in <context>...</context>.",
    ],
)
def test_where_the_tags_enclose_nothing_there_is_no_section(text):
    assert find(text) is None


def test_sections_right_after_each_other_are_one():
    assert find("<document>a</document>\n\n<document> b </document>") == "a\nb"
    assert find("<document>a</document> or <document>b</document>") == "b"
    assert find("<documents><document>a</document><document>b</document></documents>") == (
        "<document>a</document><document>b</document>"
    )
    assert find("<context>a<context>b</context></context>") == "a<context>b</context>"


def test_what_begins_with_the_word_tags_on_a_line_of_its_own_tag_is_no_sentence_about_it():
    assert find("<context>Tags: refunds</context>") == "Tags: refunds"


@pytest.mark.parametrize(
    "text",
    [
        "<context>" * 100_000,
        "<context>" * 50_000 + "</context>" * 50_000,
        "<context></context>" * 50_000,
        "<context>" + "-" * 200_000 + "x</context>",
        "\t" * 200_000 + "x<context>",
    ],
)
def test_many_tags_take_no_longer_than_their_number_asks(text):
    started = time.process_time()
    find(text)
    assert time.process_time() - started < 2
