"""From which share of an answer's own words on a context counts as used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from answer_forms import restate, retell
from labelled_rows import LabelledRow
from statistics_of_scores import find_balanced, measure_rates

from ragsonde.judging.lexical.probe import read_answer, read_question

if TYPE_CHECKING:
    from logistic_fit import Floats

USED_LEAD = 0.1
_TOLERANCE = 0.02
"""Applications rephrase more than our long forms do: of cut-offs that are about as good the lowest."""


def find_use_cut_off(rows: list[LabelledRow]) -> float:
    """The cut-off that best tells used from unused contexts over right and wrong answers, short and long."""
    return find_balanced(*list_shares(rows), tolerance=_TOLERANCE)


def list_shares(rows: list[LabelledRow]) -> tuple[Floats, Floats]:
    """Share of the answer's own words in each context (0 where another holds clearly more), and whether used.

    Right answers are used from the relevant contexts; answers to a question of another group from none.
    """
    shares: list[float] = []
    labels: list[float] = []
    answered = [row for row in rows if row.source.startswith("xquad") and row.expected]
    for place, row in enumerate(answered):
        question = read_question(row.query)
        others = answered[place + 1 :] + answered[:place]
        other = next(row_ for row_ in others if row_.source == row.source and row_.group != row.group)
        wrong = LabelledRow(row.query, other.expected, "", row.source, row.group, other.contexts)
        for source, is_right in ((row, True), (wrong, False)):
            for text in (source.expected, restate(source), retell(source)):
                probe = read_answer(text, questions=[question]) if text else None
                if probe is None:
                    continue
                covered = [probe.cover(context.reading.words) for context in row.contexts]
                near = max(covered) - USED_LEAD
                shares.extend(share if share >= near else 0.0 for share in covered)
                labels.extend(float(is_right and context.is_relevant) for context in row.contexts)
    return np.array(shares), np.array(labels)


def measure_use(rows: list[LabelledRow], *, cut_off: float) -> tuple[float, float]:
    """Share of used and of unused contexts that are called used."""
    return measure_rates(*list_shares(rows), cut_off)
