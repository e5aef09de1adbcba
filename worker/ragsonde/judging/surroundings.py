"""What a judge has around it in a deployment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.judging.pauses import JudgeStates

ROOM_SECONDS = 1.0
"""So long a worker's thread waits for a judge that is busy; then the evaluation waits in Postgres instead."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Of all judges of one process.

    Attributes:
        states: shared by all workers.
        on_circuit: told (judge, model, is_open) when a circuit opens or closes.
        patience_seconds: how long a thread may wait for a judge that is busy.
    """

    states: JudgeStates
    on_circuit: Callable[[str, str, bool], None]
    patience_seconds: float = ROOM_SECONDS
