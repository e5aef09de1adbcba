"""Fits the lexical judge's weights and cut-offs, and writes them with their provenance.

    python tests/benchmarks/judge/fit_weights.py DATA.jsonl... --output weights.json

Only rows of XQuAD and HotpotQA are fitted on. What is printed, and every cut-off, comes from probabilities of
weights that were fitted without the row's group (article or question). Rows of other sources are measured,
never fitted on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from cut_off_search import find_cut_offs, list_best_sentences
from head_tables import HEADS, Table, gather_tables
from labelled_rows import read_rows
from logistic_fit import assign_folds, cross_validate, fit_logistic, to_logit, to_probability
from rich.console import Console
from statistics_of_scores import measure_auc, measure_rates
from use_cut_off import measure_use

from ragsonde.judging.lexical.features import ANSWER_FEATURES, QUESTION_FEATURES, SENTENCE_FEATURES

if TYPE_CHECKING:
    from logistic_fit import Floats

FOLDS = 5
SEED = 20240501
RIDGES = {
    "query_only": 0.005,
    "query_answer": 0.01,
    "sentence_query_only": 0.001,
    "sentence_query_answer": 0.001,
}
FEATURES = {
    "query_only": QUESTION_FEATURES,
    "query_answer": QUESTION_FEATURES + ANSWER_FEATURES,
    "sentence_query_only": SENTENCE_FEATURES[:1],
    "sentence_query_answer": SENTENCE_FEATURES,
}
DIGITS = 4
VERSION = "2"
"""Raise it with the features; a digest of the numbers stands beside it in the judge's fingerprint."""
PROVENANCE = {
    "fitted_on": "XQuAD (English and 11 translations) and HotpotQA (distractor setting)",
    "licence_of_the_data": "CC BY-SA 4.0, both; these numbers hold no text of it",
    "provenance_of_the_data": "Artetxe et al. 2020, On the Cross-lingual Transferability of Monolingual "
    "Representations; Yang et al. 2018, HotpotQA",
    "method": "tests/benchmarks/judge/fit_weights.py: logistic regression with weights of at least 0, "
    "cut-offs from 5-fold probabilities grouped by article or question",
}
console = Console(width=120)


def fit_head(table: Table, *, ridge: float) -> tuple[Floats, Floats]:
    """Weights with the bias last; the rows' probabilities from weights that have not seen their group.

    The ridge spreads weight over features that say nearly the same; the scale that it costs is fitted again.
    """
    rows, labels, shares = np.array(table.rows), table.list_labels(), table.weigh()
    folds = assign_folds([origin.group for origin in table.origins], count=FOLDS, seed=SEED)
    logits = cross_validate(rows, labels, shares, folds=folds, ridge=ridge)
    scale, shift = fit_logistic(logits[:, None], labels, shares, ridge=0.0)
    fitted = fit_logistic(rows, labels, shares, ridge=ridge) * scale
    fitted[-1] += shift
    return fitted, to_probability(scale * logits + shift)


def describe_head(name: str, fitted: Floats) -> dict[str, Any]:
    """A head as the weights file holds it."""
    *weights, bias = (round(float(weight), DIGITS) for weight in fitted)
    console.print(f"{name}: {dict(zip(FEATURES[name], weights, strict=True))}, bias {bias}")
    return {"features": list(FEATURES[name]), "weights": weights, "bias": bias}


def show_head(name: str, table: Table, probabilities: Floats, cut_off: float) -> list[float]:
    """Prints AUC and rates per family, of the answers as given; the AUCs."""
    labels = table.list_labels()
    found = []
    for family in sorted({origin.family for origin in table.origins}):
        inside = np.array([origin.family == family and origin.share == 1 for origin in table.origins])
        yes, no = measure_rates(probabilities[inside], labels[inside], cut_off)
        found.append(measure_auc(probabilities[inside], labels[inside]))
        console.print(
            f"{name:22} {family:18} auc {found[-1]:.3f}; from {cut_off} on: right {yes:.3f}, wrong {no:.3f}"
        )
    return found


def show_contexts(
    tables: list[dict[str, Table]], probabilities: list[dict[str, Floats]], cuts: list[float]
) -> None:
    """Prints the held-out figures of both context heads, out of fold and on other sources, and their mean."""
    for name, cut_off in zip(("query_only", "query_answer"), cuts, strict=True):
        parts = zip(tables, probabilities, strict=True)
        found = [auc for of, told in parts for auc in show_head(name, of[name], told[name], cut_off)]
        console.print(f"{name}: held-out macro AUC {np.mean(found):.4f} over {len(found)} sources")


def main() -> None:
    """Reads, fits, prints, writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path, help="files of labelled rows")
    parser.add_argument("--output", type=Path, required=True, help="the weights file to write")
    options = parser.parse_args()
    read = read_rows(options.data)
    rows = [row for row in read if row.is_permitted]
    others = gather_tables([row for row in read if not row.is_permitted and not row.tells_use])
    tables = gather_tables(rows)
    fitted = {name: fit_head(tables[name], ridge=RIDGES[name]) for name in HEADS}
    probabilities = {name: fitted[name][1] for name in HEADS}
    cut_offs = find_cut_offs(tables, probabilities, rows)
    heads = {name: describe_head(name, fitted[name][0]) for name in HEADS}
    unseen = {
        name: to_probability(to_logit(np.array(others[name].rows), fitted[name][0]))
        for name in ("query_only", "query_answer")
        if others[name].rows
    }
    has_unseen = len(unseen) == len(cut_offs["relevant"])
    measured = ([tables, others], [probabilities, unseen]) if has_unseen else ([tables], [probabilities])
    show_contexts(*measured, cut_offs["relevant"])
    for place, name in enumerate(HEADS[2:]):
        show_head(name, tables[name], probabilities[name], cut_offs["relevant_sentence"][place])
    for place, name in enumerate(("sentence_query_only", "sentence_query_answer")):
        scores, labels = list_best_sentences(tables[name], probabilities[name])
        yes, no = measure_rates(scores, labels, cut_offs["sufficient"][place])
        console.print(
            f"{name}: sufficient {yes:.3f} of whole traces, {no:.3f} without their relevant contexts"
        )
    yes, no = measure_use(rows, cut_off=cut_offs["used"])
    console.print(f"used: {yes:.3f} of used contexts, {no:.3f} of others", cut_offs)
    document = {
        "version": VERSION,
        "provenance": PROVENANCE
        | {"questions": len(rows), "contexts": sum(len(row.contexts) for row in rows)},
        "context": {name: heads[name] for name in ("query_only", "query_answer")},
        "sentence": {name: heads[f"sentence_{name}"] for name in ("query_only", "query_answer")},
        "cut_offs": cut_offs,
    }
    options.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
