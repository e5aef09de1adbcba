"""Cut-offs of the lexical judge, each from probabilities of rows that were not fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from statistics_of_scores import find_balanced, find_best_f1, find_precise, find_quiet
from use_cut_off import USED_LEAD, find_use_cut_off

if TYPE_CHECKING:
    from head_tables import Table
    from labelled_rows import LabelledRow
    from logistic_fit import Floats
    from numpy.typing import NDArray

_HIGH_PRECISION = 0.8
_OFF_SUBJECT_PASSING = 0.01


def find_cut_offs(
    tables: dict[str, Table], probabilities: dict[str, Floats], rows: list[LabelledRow]
) -> dict[str, Any]:
    """The cut-offs as the weights file holds them; pairs are without and with an answer.

    `relevant`: best F1. `high`, `medium`: lowest with a precision of 0.8 by the question alone. `low`: best
    balance between contexts of the same and of another article. `relevant_sentence`: lowest that at most 1 %
    of the sentences of another article reach. `sufficient`: best balance between the best sentence of whole
    traces and of traces without their relevant contexts.
    """
    alone = tables["query_only"]
    precise = find_precise(
        probabilities["query_only"], alone.list_labels(), alone.weigh(), precision=_HIGH_PRECISION
    )
    return {
        "relevant": [
            find_best_f1(probabilities[name], tables[name].list_labels(), tables[name].weigh())
            for name in ("query_only", "query_answer")
        ],
        "high": precise,
        "medium": precise,
        "low": _find_low(alone, probabilities["query_only"]),
        "relevant_sentence": [
            find_quiet(probabilities[name][_is_level(tables[name], "none")], passing=_OFF_SUBJECT_PASSING)
            for name in ("sentence_query_only", "sentence_query_answer")
        ],
        "sufficient": [
            find_balanced(*list_best_sentences(tables[name], probabilities[name]))
            for name in ("sentence_query_only", "sentence_query_answer")
        ],
        "used": find_use_cut_off(rows),
        "used_lead": USED_LEAD,
    }


def list_best_sentences(table: Table, probabilities: Floats) -> tuple[Floats, Floats]:
    """The best sentence's probability of every trace as it is (1), and without its relevant contexts (0)."""
    best: dict[tuple[int, bool], float] = {}
    for origin, probability in zip(table.origins, probabilities.tolist(), strict=True):
        for is_whole in (True, False):
            if is_whole or not origin.is_in_relevant:
                key = (origin.trace, is_whole)
                best[key] = max(best.get(key, 0.0), probability)
    return np.array(list(best.values())), np.array([float(is_whole) for _, is_whole in best])


def _find_low(table: Table, probabilities: Floats) -> float:
    is_low, is_none = _is_level(table, "low"), _is_level(table, "none")
    return find_balanced(probabilities[is_low | is_none], is_low[is_low | is_none].astype(float))


def _is_level(table: Table, level: str) -> NDArray[np.bool_]:
    return np.array([origin.level == level for origin in table.origins])
