"""What judges may spend, over all workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.spending import Reservation

if TYPE_CHECKING:
    from ragsonde_schemas.evaluation import ClaimedEvaluation
    from ragsonde_schemas.spending import WorstCase


class UnlimitedBudgets:
    """The `ports.Budgets` where no judge has one."""

    def reserve(self, claimed: ClaimedEvaluation, worst: WorstCase) -> Reservation:  # noqa: ARG002
        """There is room, and nothing is written."""
        return Reservation.HELD
