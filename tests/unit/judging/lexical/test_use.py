from ragsonde.extraction.sentences import split_sentences
from ragsonde.judging.lexical.heads import load_weights
from ragsonde.judging.lexical.probe import read_question
from ragsonde.judging.lexical.reading import read_sentences
from ragsonde.judging.lexical.use import find_used

QUESTIONS = [read_question("What does the hotel offer?")]
POOL = read_sentences(["The hotel has a heated outdoor pool open from May to September."])
SPA = read_sentences(["Guests relax in the spa with two saunas and a steam bath."])
PARKING = read_sentences(["Parking costs twelve euros a night."])


def use(answer, *readings):
    return find_used(
        split_sentences(answer),
        readings,
        language="en",
        questions=QUESTIONS,
        cut_offs=load_weights().cut_offs,
    )


def test_each_sentence_of_the_answer_may_come_from_another_context():
    answer = "There is a heated outdoor pool. The spa has two saunas and a steam bath."
    assert use(answer, POOL, SPA, PARKING) == [True, True, False]


def test_a_context_that_holds_hardly_less_is_used_too():
    twin = read_sentences(["A heated outdoor pool is there."])
    assert use("There is a heated outdoor pool open in May.", POOL, twin, PARKING) == [True, False, False]
    assert use("There is a heated outdoor pool.", POOL, twin, PARKING) == [True, True, False]


def test_repeating_the_question_uses_nothing_unless_nothing_else_is_said():
    assert use("What the hotel offers? Free breakfast buffets.", POOL, PARKING) == [False, False]
    assert use("The hotel offers.", POOL, PARKING) == [True, False]


def test_an_answer_from_nowhere_uses_nothing():
    assert use("Rooms come with satellite television and kettles.", POOL, SPA, PARKING) == [
        False,
        False,
        False,
    ]
    assert use("", POOL) == [False]
