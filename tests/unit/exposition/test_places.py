"""Whose trace a value is of: the same names in every process, within bounds."""

from hypothesis import given
from hypothesis import strategies as st

from ragsonde.exposition.admission import Limits
from ragsonde.exposition.places import ELSEWHERE, RETIRED_AFTER_SECONDS, Place, Places
from ragsonde_schemas.label_names import NO_NAMES, LabelNames


def make_places(names: list[LabelNames] | None = None, **limits: int) -> Places:
    names = names or [NO_NAMES]
    return Places(Limits(**limits), max_places=1000, find_names=lambda: names[0])


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


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8)), max_size=200))
def test_never_more_places_than_there_is_room_for(triples):
    places = Places(Limits(max_apps=7, max_environments=3, max_releases=2), max_places=9)
    seen = {
        places.admit(app=app, environment=environment, release=release)
        for app, environment, release in triples
    }
    assert len(seen | {ELSEWHERE}) <= 9


def test_what_the_deployment_names_is_named_whatever_came_first_here():
    names = [LabelNames(apps=("a", ""), environments=("e",), releases={("a", "e"): ("3", "2", "1")})]
    places = make_places(names, max_apps=2, max_environments=1)
    assert places.admit(app="z", environment="e", release="1").app == "other"
    assert places.admit(app="a", environment="e", release="4") == Place("a", "e", "other")
    assert places.admit(app="a", environment="e", release="1") == Place("a", "e", "1")
    assert places.admit(app="", environment="e", release="5") == Place("default", "e", "5")
    assert places.admit(app="a", environment="x", release="1") == Place("a", "other", "other")


def test_what_is_seen_first_has_a_name_until_the_deployment_names_others():
    names = [NO_NAMES]
    places = make_places(names, max_apps=2)
    assert [places.admit(app=app, environment="e", release="").app for app in "abc"] == ["a", "b", "other"]
    names[0] = LabelNames(apps=("c",))
    assert [places.admit(app=app, environment="e", release="").app for app in "abc"] == ["a", "other", "c"]
    names[0] = LabelNames(apps=("c", "b"))
    assert [places.admit(app=app, environment="e", release="").app for app in "abc"] == ["other", "b", "c"]


def test_what_was_seen_here_first_and_is_named_since_takes_one_place():
    names = [NO_NAMES]
    places = make_places(names, max_apps=3)
    assert places.admit_app("a") == "a"
    names[0] = LabelNames(apps=("a",))
    assert [places.admit_app(app) for app in "bcd"] == ["b", "c", "other"]


@given(st.permutations("abcdefgh"), st.permutations("abcdefgh"))
def test_two_processes_that_see_apps_in_any_order_name_the_same_ones(first, second):
    names = [LabelNames(apps=("d", "g", "a"), environments=("e",))]
    shown = []
    for order in (first, second):
        places = make_places(names, max_apps=3)
        shown.append({app: places.admit(app=app, environment="e", release="") for app in order})
    assert shown[0] == shown[1]


def test_a_release_that_has_lost_its_name_is_let_go_when_it_has_been_scraped():
    names, retired, now = [LabelNames(releases={("a", "e"): ("1", "2", "3")})], [], [0.0]
    places = Places(
        Limits(),
        max_places=5,
        find_names=lambda: names[0],
        on_retired=retired.append,
        monotonic=lambda: now[0],
    )
    for release in "123":
        assert places.admit(app="a", environment="e", release=release).release == release
    names[0] = LabelNames(releases={("a", "e"): ("2", "3", "4")})
    assert places.admit(app="a", environment="e", release="1").release == "other"
    assert places.admit(app="a", environment="e", release="4").release == "other", "there is no room yet"
    now[0] = RETIRED_AFTER_SECONDS - 1
    places.admit(app="a", environment="e", release="2")
    assert retired == []
    now[0] = RETIRED_AFTER_SECONDS + 60
    places.admit(app="a", environment="e", release="2")
    assert retired == [Place("a", "e", "1")]
    assert places.admit(app="a", environment="e", release="4") == Place("a", "e", "4")


def test_a_release_that_gets_its_name_back_in_time_stays():
    names, retired, now = [LabelNames(releases={("a", "e"): ("1", "2", "3")})], [], [0.0]
    places = Places(
        Limits(),
        max_places=9,
        find_names=lambda: names[0],
        on_retired=retired.append,
        monotonic=lambda: now[0],
    )
    places.admit(app="a", environment="e", release="1")
    for without, with_it in ((30, 500), (700, 1200), (1300, 5000)):
        names[0] = LabelNames(releases={("a", "e"): ("2", "3", "4")})
        now[0] = without
        places.admit(app="a", environment="e", release="2")
        names[0] = LabelNames(releases={("a", "e"): ("1", "2", "3")})
        now[0] = with_it
        assert places.admit(app="a", environment="e", release="1") == Place("a", "e", "1")
    assert retired == []


def test_an_app_that_has_lost_its_name_is_let_go_with_all_its_places():
    names, retired, now = [LabelNames(apps=("a",))], [], [0.0]
    places = Places(
        Limits(max_apps=1),
        max_places=9,
        find_names=lambda: names[0],
        on_retired=retired.append,
        monotonic=lambda: now[0],
    )
    places.admit(app="a", environment="e", release="1")
    names[0] = LabelNames(apps=("b",))
    for now[0] in (1, 700):
        places.admit(app="b", environment="e", release="1")
    assert sorted(retired) == [Place("a", "e", "1"), Place("a", "e", "other")]
    assert places.admit_app("a") == "other"
