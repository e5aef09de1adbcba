"""What producers can make the process expose has bounds."""

import logging

from hypothesis import given
from hypothesis import strategies as st

from ragsonde.exposition.admission import Limits, Vocabularies, Vocabulary


def test_the_first_folded_value_is_logged_and_the_next_ones_are_not(caplog):
    vocabulary = Vocabulary("model", max_values=1)
    with caplog.at_level(logging.WARNING):
        for number in range(10):
            vocabulary.admit(f"secret-{number}")
    assert [record.message for record in caplog.records] == ["label_values_folded"]
    assert "secret" not in str(vars(caplog.records[0]))


def test_configured_values_are_named_beside_the_others_and_cause_no_warning(caplog):
    vocabulary = Vocabulary("rule", max_values=2, known=["mapping:c", "mapping:d"])
    with caplog.at_level(logging.WARNING):
        named = [vocabulary.admit(value) for value in ("a", "b", "mapping:c", "mapping:d", "a")]
    assert named == ["a", "b", "mapping:c", "mapping:d", "a"]
    assert caplog.records == []
    assert vocabulary.admit("e") == "other"


def test_rules_have_a_limit_of_their_own():
    vocabularies = Vocabularies(Limits(max_label_values=1, max_rules=2), rules=["mapping:m"])
    assert [vocabularies.admit("rule", value) for value in ("a", "b", "c", "mapping:m")] == [
        *("a", "b", "other", "mapping:m")
    ]
    assert [vocabularies.admit("model", value) for value in ("a", "b")] == ["a", "other"]


@given(st.lists(st.text(max_size=3), max_size=100))
def test_a_vocabulary_gives_the_same_answer_for_an_admitted_value_for_ever(values):
    vocabulary = Vocabulary("rule", max_values=5)
    first = {value: vocabulary.admit(value) for value in values}
    admitted = {value: label for value, label in first.items() if label != "other"}
    assert admitted == {value: vocabulary.admit(value) for value in admitted}
    assert len(set(admitted.values())) <= 5
