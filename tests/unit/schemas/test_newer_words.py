"""Words of rows that a newer version wrote."""

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.newer_words import read_word
from ragsonde_schemas.watched import JudgeCounts


def test_a_known_word_is_its_member():
    assert read_word(Cause, "no_query") is Cause.NO_QUERY


def test_an_unknown_one_stands_as_it_is_and_passes_through_values():
    word = read_word(Cause, "model_on_holiday")
    assert (word, word.value, f"{word}") == ("model_on_holiday",) * 3
    assert word not in set(Cause)
    counts = JudgeCounts(judge="gpt", causes={word: 7})
    assert counts.model_dump(mode="json")["causes"] == {"model_on_holiday": 7}
    assert counts.causes[read_word(Cause, "model_on_holiday")] == 7
