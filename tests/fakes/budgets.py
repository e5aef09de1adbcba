"""Budgets that answer as they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.spending import Reservation

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde_schemas.check import ClaimedCheck
    from ragsonde_schemas.evaluation import ClaimedEvaluation
    from ragsonde_schemas.spending import WorstCase


class FakeBudgets:
    """Has room, or gives the answers it was made with, one a question.

    Attributes:
        asked: the worst case of each question that was answered as told.
    """

    def __init__(self, *answers: Reservation) -> None:
        self._answers = list(answers)
        self.asked: list[WorstCase] = []

    def reserve(self, claimed: ClaimedEvaluation, estimate: Callable[[], WorstCase]) -> Reservation:  # noqa: ARG002
        return self._answer(estimate)

    def reserve_check(self, claimed: ClaimedCheck, estimate: Callable[[], WorstCase]) -> Reservation:  # noqa: ARG002
        return self._answer(estimate)

    def _answer(self, estimate: Callable[[], WorstCase]) -> Reservation:
        if not self._answers:
            return Reservation.HELD
        self.asked.append(estimate())
        return self._answers.pop(0)
