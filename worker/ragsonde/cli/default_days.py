"""Which days are read where nobody names the first: the newest ones, and it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.cli.terminal import write_note
from ragsonde.storage.assessments import count_evaluations

if TYPE_CHECKING:
    from datetime import date

    from sqlalchemy import Engine

    from ragsonde.storage.assessments import EvaluationFilter

DEFAULT_DAYS = 7


def count_chosen_days(
    engine: Engine, chosen: EvaluationFilter, *, takes_all: bool = False
) -> dict[date, int]:
    """About how many evaluations are meant, by day; without a first day those of the newest seven with some.

    Args:
        engine: of this process.
        chosen: which are meant.
        takes_all: all days are, even without a first one.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    is_open = chosen.since is None and not takes_all
    days = count_evaluations(engine, chosen, most_days=DEFAULT_DAYS if is_open else None)
    if is_open and len(days) == DEFAULT_DAYS:
        write_note(
            f"the newest {DEFAULT_DAYS} days with evaluations: what is older than {min(days)} is left out; "
            "--since DAY takes it too"
        )
    return days
