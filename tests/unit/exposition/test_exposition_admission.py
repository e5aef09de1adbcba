"""What producers can make the process expose has bounds."""

import logging

from hypothesis import given
from hypothesis import strategies as st

from ragsonde.exposition.admission import ELSEWHERE, Limits, Place, Places, Vocabularies, Vocabulary


def make_places(**limits: int) -> Places:
    return Places(Limits(**limits), max_places=1000)


def test_the_first_twenty_apps_are_named_and_the_others_are_other():
    places = make_places()
    apps = [places.admit(app=f"app{number}", environment="", release="").app for number in range(25)]
    assert [f"app{number}" for number in range(20)] + ["other"] * 5 == apps


def test_the_first_five_environments_are_named():
    places = make_places()
    labels = [places.admit(app="a", environment=f"e{number}", release="").environment for number in range(7)]
    assert labels == ["e0", "e1", "e2", "e3", "e4", "other", "other"]


def test_three_releases_are_named_for_each_app_and_environment():
    places = make_places()
    seen = [
        places.admit(app=app, environment="production", release=f"{app}-{number}").release
        for app in ("a", "b")
        for number in range(5)
    ]
    assert seen == ["a-0", "a-1", "a-2", "other", "other", "b-0", "b-1", "b-2", "other", "other"]


def test_a_named_app_stays_named_when_the_others_no_longer_are():
    places = make_places(max_apps=1)
    first = places.admit(app="a", environment="e", release="r")
    places.admit(app="b", environment="e", release="r")
    assert first == Place("a", "e", "r") == places.admit(app="a", environment="e", release="r")


def test_an_app_that_is_not_named_has_no_named_release():
    places = make_places(max_apps=1)
    places.admit(app="a", environment="e", release="r")
    assert Place("other", "e", "other") == places.admit(app="b", environment="e", release="r")


def test_an_unknown_app_is_shown_as_default():
    assert make_places().admit(app="", environment="", release="") == Place("default", "", "")


def test_without_room_a_place_falls_back_to_its_app_and_then_to_other():
    places = Places(Limits(), max_places=4)
    assert places.admit(app="a", environment="e", release="1") == Place("a", "e", "1")
    for number in range(2, 6):
        places.admit(app="a", environment="e", release=str(number))
    assert places.admit(app="a", environment="e", release="2") == Place("a", "e", "2")
    assert places.admit(app="a", environment="e", release="5") == Place("a", "e", "other")
    assert places.admit(app="b", environment="e", release="1") == ELSEWHERE


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


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8)), max_size=200))
def test_never_more_places_than_there_is_room_for(triples):
    places = Places(Limits(max_apps=7, max_environments=3, max_releases=2), max_places=9)
    seen = {
        places.admit(app=app, environment=environment, release=release)
        for app, environment, release in triples
    }
    assert len(seen | {ELSEWHERE}) <= 9


@given(st.lists(st.text(max_size=3), max_size=100))
def test_a_vocabulary_gives_the_same_answer_for_an_admitted_value_for_ever(values):
    vocabulary = Vocabulary("rule", max_values=5)
    first = {value: vocabulary.admit(value) for value in values}
    admitted = {value: label for value, label in first.items() if label != "other"}
    assert admitted == {value: vocabulary.admit(value) for value in admitted}
    assert len(set(admitted.values())) <= 5
