"""What docs/how-to/upgrade.md and docs/explanation/clocks.md say holds."""

import re
from pathlib import Path

from ragsonde.monitor.chores import MonitorOptions
from ragsonde.pipeline.waiting import LONGEST_WAIT
from ragsonde.storage.engine import LOCK_TIMEOUT_SECONDS
from ragsonde.storage.far_times import FARTHEST
from ragsonde.storage.migrations import PATIENCE_SECONDS, PAUSE_SECONDS
from ragsonde.storage.schema_state import find_migrations

DOCS = Path(__file__).parents[3] / "docs"
UPGRADE = " ".join((DOCS / "how-to" / "upgrade.md").read_text().split())
CLOCKS = " ".join((DOCS / "explanation" / "clocks.md").read_text().split())


def test_a_migration_waits_and_tries_again_as_the_page_says():
    (waits,) = re.findall(
        r'^LOCK_TIMEOUT = "(\d+)s"', (find_migrations() / "env.py").read_text(), re.MULTILINE
    )
    assert f"waits for {waits} seconds at most" in UPGRADE
    assert f"lets {PAUSE_SECONDS:.0f} seconds of traffic through" in UPGRADE
    assert f"After {PATIENCE_SECONDS:.0f} seconds without a chance" in UPGRADE
    assert f"up to {LOCK_TIMEOUT_SECONDS} seconds for a lock" in UPGRADE
    assert int(waits) < PAUSE_SECONDS
    assert int(waits) < LOCK_TIMEOUT_SECONDS


def test_times_that_are_too_far_are_those_of_the_page():
    assert FARTHEST.days == 2
    assert "up to two days" in CLOCKS
    assert MonitorOptions(queued_for_seconds=1).far_times_seconds == 60
    assert "within a minute" in CLOCKS
    assert LONGEST_WAIT < FARTHEST
    assert f"waited for {LONGEST_WAIT.total_seconds() / 3600:.0f} hours" in CLOCKS
