"""Which values are named: the busiest apps, environments and releases, and the stable release before."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import NOON
from ragsonde.label_naming import IDLE, NOTHING_WANTED, WantedNames, choose_names
from ragsonde_schemas.label_names import LabelActivity, NamedLabel

if TYPE_CHECKING:
    from collections.abc import Sequence

MINUTE = timedelta(minutes=1)


def came(
    release: str = "1",
    traces: int = 10,
    *,
    app: str = "shop",
    environment: str = "production",
    at: datetime = NOON,
) -> LabelActivity:
    return LabelActivity(app, environment, release, traces, at - MINUTE, at)


class Naming:
    """What is named, minute by minute."""

    def __init__(self, wanted: WantedNames = NOTHING_WANTED) -> None:
        self.now = NOON
        self.wanted = wanted
        self.names = choose_names((), (), now=NOON)

    def pass_minute(
        self, *activity: LabelActivity, day: Sequence[LabelActivity] = (), after: timedelta = MINUTE
    ) -> None:
        self.now += after
        self.names = choose_names(self.names.values, activity, day=day, wanted=self.wanted, now=self.now)

    def of(self, label: NamedLabel) -> list[str]:
        return [one.value for one in self.names.values if one.label is label]

    @property
    def releases(self) -> set[str]:
        return set(self.of(NamedLabel.RELEASE))


def test_the_busiest_twenty_apps_and_five_environments_are_named_in_the_order_they_came():
    naming = Naming()
    naming.pass_minute(
        *(
            came(app=f"a{number}", environment=f"e{number % 7}", at=NOON + number * MINUTE, traces=number)
            for number in range(25)
        )
    )
    assert naming.of(NamedLabel.APP) == [f"a{number}" for number in range(5, 25)]
    assert naming.of(NamedLabel.ENVIRONMENT) == ["e0", "e1", "e2", "e3", "e6"]
    assert naming.names.folded == {"app": 5, "environment": 2, "release": 0}


def test_of_apps_that_come_alike_those_that_came_first_are_named():
    naming = Naming()
    naming.pass_minute(*(came(app=f"a{number:02}", at=NOON + number * MINUTE) for number in range(25)))
    assert naming.of(NamedLabel.APP) == [f"a{number:02}" for number in range(20)]


def test_names_that_were_sent_once_keep_no_app_from_its_own():
    naming = Naming()
    naming.pass_minute(*(came(app=f"junk{number}", traces=1) for number in range(20)))
    naming.pass_minute(came(app="shop", traces=3), came(app="junk20", traces=1))
    assert "shop" in naming.of(NamedLabel.APP)
    assert "junk20" not in naming.of(NamedLabel.APP), "one more of its kind takes nobody's name"
    for number in range(20):
        naming.pass_minute(*(came(app=f"app{earlier}", traces=50) for earlier in range(number + 1)))
    assert set(naming.of(NamedLabel.APP)) == {f"app{number}" for number in range(20)}


def test_a_name_changes_hands_only_for_more_than_twice_the_traces_of_a_day():
    naming = Naming()
    day = [came(app=f"a{number}", traces=100) for number in range(20)]
    naming.pass_minute(day=day)
    for traces, is_named in ((101, False), (200, False), (201, True)):
        naming.pass_minute(came(app="new", traces=5), day=[*day, came(app="new", traces=traces)])
        assert ("new" in naming.of(NamedLabel.APP)) == is_named, traces
    lost = next(one.app for one in day if one.app not in naming.of(NamedLabel.APP))
    naming.pass_minute(day=[*day, came(app="new", traces=201)])
    assert lost not in naming.of(NamedLabel.APP), "nor does it go back for less"


def test_what_the_settings_name_is_named_whatever_comes():
    naming = Naming(WantedNames(apps=("quiet", ""), environments=("staging",)))
    naming.pass_minute(*(came(app=f"a{number}", environment=f"e{number}") for number in range(30)))
    naming.pass_minute(*(came(app=f"b{number}", traces=10**6) for number in range(30)), after=2 * IDLE)
    assert {"quiet", ""} <= set(naming.of(NamedLabel.APP))
    assert "staging" in naming.of(NamedLabel.ENVIRONMENT)
    assert len(naming.of(NamedLabel.APP)) == 20


def test_an_app_that_sent_nothing_for_a_week_gives_way_where_another_has_no_name():
    naming = Naming()
    naming.pass_minute(came(app="gone"), *(came(app=f"a{number}") for number in range(19)))
    still = [came(app=f"a{number}", at=NOON + IDLE) for number in range(19)]
    naming.pass_minute(*still, after=IDLE + MINUTE)
    assert "gone" in naming.of(NamedLabel.APP), "nobody needs its place"
    naming.pass_minute(*still, came(app="new", at=naming.now))
    assert "gone" not in naming.of(NamedLabel.APP)
    assert "new" in naming.of(NamedLabel.APP)


def test_the_two_busiest_releases_and_the_stable_one_before_are_named():
    naming = Naming()
    naming.pass_minute(came("1", 1000))
    naming.pass_minute(came("1", 400), came("2", 600), came("3", 90))
    assert naming.releases == {"1", "2", "3"}, "while none was stable before"
    naming.pass_minute(came("1", 5), came("2", 900), came("3", 90), came("4", 30))
    assert naming.releases == {"1", "2", "3"}
    assert naming.names.folded["release"] == 1
    naming.pass_minute(came("2", 100), came("3", 900), came("4", 800))
    assert naming.releases == {"3", "4", "2"}


def test_a_rollback_finds_its_release_named():
    naming = Naming()
    naming.pass_minute(came("1", 1000))
    for _ in range(90):
        naming.pass_minute(came("2", 1000))
    assert naming.releases == {"1", "2"}
    naming.pass_minute(came("2", 990), came("1", 10))
    naming.pass_minute(came("1", 1000))
    assert naming.releases == {"1", "2"}


def test_a_quiet_night_changes_nothing():
    naming = Naming()
    naming.pass_minute(came("1", 100), came("2", 50))
    before = naming.names.values
    for _ in range(600):
        naming.pass_minute()
    assert naming.names.values == before


def test_two_releases_that_are_alike_do_not_change_places_each_minute():
    naming = Naming()
    naming.pass_minute(came("0", 1000))
    naming.pass_minute(came("1", 900), came("2", 500), came("3", 400))
    named = naming.releases
    for traces in (510, 490, 530, 470):
        naming.pass_minute(came("1", 900), came("2", 500), came("3", traces))
        assert naming.releases == named == {"0", "1", "2"}
    naming.pass_minute(came("1", 900), came("2", 500), came("3", 700))
    assert naming.releases == {"0", "1", "3"}


def test_each_app_and_environment_has_releases_of_its_own():
    naming = Naming()
    naming.pass_minute(
        *(came(f"{app}-1", app=app) for app in ("shop", "desk")), came("s", environment="staging")
    )
    named = {one[1:4] for one in naming.names.values if one.label is NamedLabel.RELEASE}
    assert named == {
        ("shop", "production", "shop-1"),
        ("desk", "production", "desk-1"),
        ("shop", "staging", "s"),
    }


activities = st.builds(
    came,
    st.text("1234567", min_size=1, max_size=1),
    st.integers(1, 1000),
    app=st.integers(0, 30).map(str),
    environment=st.integers(0, 8).map(str),
)


@given(st.lists(st.lists(activities, max_size=40), max_size=6))
def test_never_more_than_the_limits_and_no_value_twice(minutes):
    naming = Naming()
    for activity in minutes:
        naming.pass_minute(*activity)
        values = naming.names.values
        assert len({one.key for one in values}) == len(values)
        assert len(naming.of(NamedLabel.APP)) <= 20
        assert len(naming.of(NamedLabel.ENVIRONMENT)) <= 5
        places = [one[1:3] for one in values if one.label is NamedLabel.RELEASE]
        assert all(places.count(place) <= 3 for place in places)
        assert {app for app, _ in places} <= set(naming.of(NamedLabel.APP))
