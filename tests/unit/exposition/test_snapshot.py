"""A snapshot that nobody renews disappears."""

from ragsonde.exposition.series import QUEUE_MESSAGES
from ragsonde.exposition.snapshot import STALE_AFTER_SECONDS, SnapshotCollector


def test_a_fresh_snapshot_is_shown_and_a_stale_one_is_absent():
    now = [1000.0]
    collector = SnapshotCollector(QUEUE_MESSAGES, monotonic=lambda: now[0])
    collector.replace({("ragsonde.work",): 7.0})
    now[0] += STALE_AFTER_SECONDS
    assert [[sample.value for sample in family.samples] for family in collector.collect()] == [[7.0]]
    now[0] += 1
    assert [family.samples for family in collector.collect()] == [[]]
    collector.replace({("ragsonde.work",): 8.0})
    assert [[sample.value for sample in family.samples] for family in collector.collect()] == [[8.0]]
