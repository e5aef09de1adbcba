"""Builds of the settings what a worker builds at its start, to find what it would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.bootstrap.assignments import build_assignments
from ragsonde.judging.table import build_judges
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import load_judge_kinds
from ragsonde.scoring.table import build_scorers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.settings import Settings


def check_judges(settings: Settings) -> Mapping[str, Assignment]:
    """Which traces and scorers each judge of the settings has; no judge is asked.

    Raises:
        ConfigError: two judges have one name, a judge cannot be built, or names a scorer that is not
            configured.
        InputError: the file of a recorded judge is wrong.
    """
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    judges = build_judges(settings.judges, scorers=scorers, added=load_judge_kinds())
    return build_assignments(settings, scorers=scorers, judges=judges)
