import pytest

from ragsonde.extraction.sentences import split_sentences
from ragsonde.judging.lexical.grounding import find_ungrounded
from ragsonde.judging.lexical.probe import read_question
from ragsonde.judging.lexical.reading import read_sentences

QUESTIONS = [read_question("How many people live in Oslo in 2020?")]
READINGS = [read_sentences(["Oslo had 1,043,000 inhabitants in 2020, says Statistics Norway."])]


@pytest.mark.parametrize(
    ("answer", "terms"),
    [
        ("Oslo had 1,043,000 inhabitants in 2020.", []),
        ("Oslo had 1043000 or 1.043.000 inhabitants.", []),
        ("Oslo had 700,000 inhabitants in 2021.", ["700,000", "2021"]),
        ("Many live there, says Eurostat. Denmark has more.", ["Eurostat"]),
        ("The figure is from UNESCO, and UNESCO says 5.", ["UNESCO", "5"]),
        ("It said The Norway.", []),
        ("Copenhagen.", ["Copenhagen"]),
        ("Jonas Gahr says so. Plenty live there.", ["Jonas", "Gahr"]),
        ("Plenty, Oslo says.", []),
        ("", []),
    ],
)
def test_terms_that_no_context_and_no_question_holds(answer, terms):
    assert find_ungrounded(split_sentences(answer), READINGS, questions=QUESTIONS) == terms


def test_at_most_twenty_terms():
    answer = ", ".join(str(number) for number in range(100, 200))
    assert len(find_ungrounded([answer], READINGS, questions=QUESTIONS)) == 20
