"""The time that passes until what dead processes held is free again, without waiting for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.waiting import wait_for

if TYPE_CHECKING:
    from datetime import datetime

    from services.deployments import Deployment

LAST_LEASE = """
SELECT max(lease_until) FROM (
    SELECT lease_until FROM evaluation UNION ALL SELECT lease_until FROM open_record
    UNION ALL SELECT lease_until FROM check_result) held
"""
SESSIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'ragsonde-worker'
"""
END_LEASES = """
WITH dead(last) AS (
    VALUES (%s::timestamptz)
), run_again AS (
    UPDATE evaluation SET lease_until = now() - interval '1 s', queued_until = NULL
    FROM dead WHERE state = 'running' AND lease_until <= last
), closed_again AS (
    UPDATE open_record SET lease_until = NULL, queued_until = NULL
    FROM dead WHERE lease_until <= last
), checked_again AS (
    UPDATE check_result SET lease_until = NULL, due_at = now() FROM dead
    WHERE judged_at IS NULL AND (lease_until IS NULL OR lease_until <= last)
)
SELECT 1
"""


def find_last_lease(deployment: Deployment) -> datetime | None:
    """Until when what is claimed now is held at most; to be asked while no worker lives.

    What a killed one had sent Postgres may still be committing: its sessions are waited for.
    """
    wait_for(lambda: deployment.count(SESSIONS) == 0, what="the end of the dead workers' sessions")
    return deployment.query(LAST_LEASE)[0][0]


def end_leases(deployment: Deployment, *, last: datetime | None) -> None:
    """Lets leases run out, as they would by themselves, up to the last one of a worker that is dead.

    So does the time in the queue of checks: a monitor that was killed may have taken some and published none.
    """
    deployment.query(END_LEASES, last)
