"""The time that passes until what dead processes held is free again, without waiting for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from services.deployments import Deployment

LAST_LEASE = """
SELECT max(lease_until) FROM (
    SELECT lease_until FROM evaluation UNION ALL SELECT lease_until FROM open_record
    UNION ALL SELECT lease_until FROM check_result) held
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
    UPDATE check_result SET lease_until = NULL, due_at = now() FROM dead WHERE lease_until <= last
)
SELECT 1
"""


def find_last_lease(deployment: Deployment) -> datetime | None:
    """Until when what is claimed now is held at most; to be asked while no worker lives."""
    return deployment.query(LAST_LEASE)[0][0]


def end_leases(deployment: Deployment, *, last: datetime | None) -> None:
    """Lets leases run out, as they would by themselves, up to the last one of a worker that is dead."""
    deployment.query(END_LEASES, last)
