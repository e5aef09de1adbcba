"""A snapshot that nobody renews disappears."""

import pytest

from ragsonde.exposition.series import OPEN_TRACES, QUEUE_MESSAGES
from ragsonde.exposition.snapshot import SHOWN_SECONDS, SnapshotCollector

WORK = ("ragsonde.work",)


class Shown:
    """A collector and its clock."""

    def __init__(self, declaration=QUEUE_MESSAGES) -> None:
        self.now = 1000.0
        self.collector = SnapshotCollector(declaration, monotonic=lambda: self.now)

    def read(self) -> list[float]:
        return [sample.value for family in self.collector.collect() for sample in family.samples]


@pytest.fixture
def shown():
    return Shown()


def test_a_fresh_snapshot_is_shown_and_a_stale_one_is_absent(shown):
    shown.collector.replace({WORK: 7.0})
    shown.now += SHOWN_SECONDS
    assert shown.read() == [7.0]
    shown.now += 1
    assert shown.read() == []
    shown.collector.replace({WORK: 8.0})
    assert shown.read() == [8.0]


def test_one_whose_job_runs_seldom_is_kept_for_as_long_as_that_says(shown):
    shown.collector.replace({WORK: 7.0})
    shown.collector.keep(900)
    shown.now += 900
    assert shown.read() == [7.0]
    shown.now += 1
    assert shown.read() == []


def test_one_whose_job_runs_often_outlives_a_missed_run(shown):
    shown.collector.replace({WORK: 7.0})
    shown.collector.keep(3)
    shown.now += SHOWN_SECONDS
    assert shown.read() == [7.0]


def test_one_that_has_disappeared_does_not_come_back_by_being_kept(shown):
    shown.collector.replace({WORK: 7.0})
    shown.now += SHOWN_SECONDS + 1
    shown.collector.keep(900)
    assert shown.read() == []


def test_one_without_labels_has_no_value_before_it_has_been_taken():
    shown = Shown(OPEN_TRACES)
    assert shown.read() == []
    shown.collector.replace({(): 0.0})
    assert shown.read() == [0.0]
