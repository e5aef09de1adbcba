import pytest

from ragsonde.judging.lexical.features import measure_answer, measure_question
from ragsonde.judging.lexical.probe import read_answer, read_question
from ragsonde.judging.lexical.reading import read_sentences

QUESTION = read_question("When was the Eiffel Tower completed?")


def test_a_question_is_its_words_of_content():
    assert list(QUESTION.weights) == ["eiffel", "tower", "complet"]
    assert QUESTION.asks_number
    assert not read_question("Who completed the tower?").asks_number


def test_an_answer_is_what_it_says_beyond_the_question():
    answer = read_answer("The Eiffel Tower was completed in March 1889.", questions=[QUESTION])
    assert list(answer.weights) == ["march", "1889"]
    assert answer.numbers == {"1889"}
    assert list(read_answer("The Eiffel Tower.", questions=[QUESTION]).weights) == ["eiffel", "tower"]


@pytest.mark.parametrize("text", ["", " ?", "Yes.", "No, it is not.", "Ja", "Нет.", "是的", "はい", "ใช่"])
def test_a_bare_yes_or_no_is_nothing_to_look_for(text):
    assert read_answer(text, questions=[QUESTION]) is None


def test_the_features_of_a_context_are_shares():
    reading = read_sentences(
        ["Work on the tower began in 1887.", "Eiffel's tower was completed in March 1889."]
    )
    asked = measure_question(QUESTION, reading)
    assert asked.by_sentence == [pytest.approx(1 / 3), 1.0]
    assert asked.values[:2] == (1.0, 1.0)
    # the first sentence has "tower" of three words, the context begins with "work", "tower"
    assert asked.values[3:] == (pytest.approx(1 / 3), 0.5)
    answer = read_answer("In March 1889.", questions=[QUESTION])
    found = measure_answer(answer, reading, question_by_sentence=asked.by_sentence)
    assert found.by_sentence == [0.0, 1.0]
    assert found.values == (1.0, 1.0, 1.0, pytest.approx(found.values[3]), 1.0, 1.0)
    assert found.values[3] > 0.9


def test_a_question_after_a_number_wants_it_in_the_sentence():
    without = read_sentences(["The Eiffel Tower was completed."])
    with_year = read_sentences(["The Eiffel Tower was completed in 1889."])
    assert measure_question(QUESTION, without).values[1] == 0.5
    assert measure_question(QUESTION, with_year).values[1] == 1.0


@pytest.mark.parametrize(
    ("sentences", "lead", "first"),
    [
        (["The Eiffel Tower is in Paris.", "It was completed in 1889."], 2 / 3, 1.0),
        (["Gustave Eiffel built it.", "The tower was completed in 1889."], 1 / 3, 0.5),
        (["Paris has many sights.", "The Eiffel Tower was completed in 1889."], 0.0, 0.0),
        (["The", "Eiffel."], 0.0, 0.5),
        (["of the"], 0.0, 0.0),
    ],
)
def test_a_context_that_begins_with_the_subject_is_told_from_one_that_mentions_it(sentences, lead, first):
    assert measure_question(QUESTION, read_sentences(sentences)).values[3:] == (pytest.approx(lead), first)


def test_many_pieces_are_found_as_few_are():
    words = [f"word{place}" for place in range(200)]
    reading = read_sentences([" ".join(words[:100])])
    long = read_answer(" ".join(words), questions=[QUESTION])
    values = measure_answer(long, reading, question_by_sentence=[0.0]).values
    assert values[0] == pytest.approx(0.5)
    assert values[4] == pytest.approx(98 / 198)
    short = read_answer(" ".join(words[90:110]), questions=[QUESTION])
    assert measure_answer(short, reading, question_by_sentence=[0.0]).values[4] == pytest.approx(8 / 18)
