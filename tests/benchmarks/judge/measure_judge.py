"""Measures the lexical judge on labelled rows, per source and over all sources.

    python tests/benchmarks/judge/measure_judge.py DATA.jsonl...

Columns: questions and contexts; AUC of the question alone and with the person's answer; F1, and the shares of
relevant and of irrelevant contexts called relevant, with the answer (without one where the source has none);
Brier score and expected calibration error of the same probabilities; the share of contexts called relevant
when the answer belongs to another question. The macro row is the mean over sources, all translations of a
corpus as one. Sources marked * were fitted on: their held-out figures are what `fit_weights.py` prints. Then,
per head, how often contexts of a given probability are relevant. Sources that say which contexts a given
answer rests on give the shares of those and of the others called used.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from judge_tables import draw_figures, draw_reliability
from judged_rows import judge, judge_row, to_trace
from labelled_rows import LabelledRow, WrongDataError, read_rows
from rich.console import Console
from rich.progress import track
from statistics_of_scores import measure_auc, measure_calibration_error, measure_f1, measure_rates

if TYPE_CHECKING:
    from collections.abc import Sequence

NAN = float("nan")
console = Console(width=120)


@dataclass
class Scores:
    """The probabilities of one source's contexts by both heads, their labels, what was called relevant."""

    labels: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)
    has_answer: bool = False


def score_source(rows: Sequence[LabelledRow]) -> Scores:
    """Judges every row with its answer, and with another row's answer."""
    scores = Scores(has_answer=any(row.given_answer for row in rows))
    for place, row in enumerate(rows):
        judged = judge_row(row, answer=row.given_answer)
        scores.labels.extend(float(context.is_relevant) for context in row.contexts)
        scores.alone.extend(judged.query_only)
        scores.together.extend(judged.of_head)
        scores.told.extend(judged.relevant)
        other = rows[place - 1].given_answer
        if other and other != row.given_answer:
            scores.wrong.extend(judge_row(row, answer=other).relevant)
    return scores


def measure_scores(scores: Scores) -> dict[str, float]:
    """The figures by column; NaN where there is nothing to measure."""
    labels, together, told = (np.array(part) for part in (scores.labels, scores.together, scores.told))
    has_both = 0 < labels.mean() < 1
    right, wrong = measure_rates(told, labels, 1.0) if has_both else (NAN, NAN)
    return {
        "auc q": measure_auc(np.array(scores.alone), labels),
        "auc q+a": measure_auc(together, labels) if scores.has_answer else NAN,
        "f1": measure_f1(told, labels, 1.0),
        "right": right,
        "wrong": wrong,
        "brier": float(np.mean((together - labels) ** 2)),
        "ece": measure_calibration_error(together, labels),
        "other answer": float(np.mean(scores.wrong)) if scores.wrong else NAN,
    }


def average(figures: dict[str, dict[str, dict[str, float]]]) -> dict[str, float]:
    """The mean of each column over families, of a family over its sources; what is NaN is left out."""
    columns: dict[str, list[float]] = defaultdict(list)
    for of_family in figures.values():
        for column in next(iter(of_family.values())):
            known = [measured[column] for measured in of_family.values() if not np.isnan(measured[column])]
            if known:
                columns[column].append(float(np.mean(known)))
    return {column: float(np.mean(values)) for column, values in columns.items()}


def measure_used(rows: Sequence[LabelledRow]) -> tuple[float, float]:
    """The shares of contexts that the answer rests on, and of others, that are called used."""
    labels = [float(bool(context.is_used)) for row in rows for context in row.contexts]
    told = [used for row in rows for used in judge_row(row, answer=row.answer).used]
    return (
        measure_rates(np.array(told), np.array(labels), 1.0) if 0 < sum(labels) < len(labels) else (NAN, NAN)
    )


def measure_cpu(rows: Sequence[LabelledRow]) -> tuple[float, float, float]:
    """CPU milliseconds a trace and a context, all aspects, sentences not counted; words a context."""
    traces = [to_trace(row, answer=row.given_answer) for row in rows]
    began = time.process_time()
    for trace in traces:
        judge(trace)
    milliseconds = (time.process_time() - began) * 1000
    texts = [context.content for trace in traces for context in trace.contexts or ()]
    words = sum(len(text.split()) for text in texts)
    return milliseconds / len(traces), milliseconds / len(texts), words / len(texts)


def show(rows: list[LabelledRow]) -> None:
    """Judges, prints."""
    by_source: dict[str, list[LabelledRow]] = defaultdict(list)
    for row in rows:
        by_source[row.source].append(row)
    figures: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    sizes, scores, use = {}, {}, {}
    for source in track(sorted(by_source), description="judging", console=console, transient=True):
        of = by_source[source]
        if any(row.tells_use for row in of):
            use[source] = measure_used(of)
            continue
        name = source + ("*" if of[0].is_permitted else "")
        scores[name] = score_source(of)
        figures[of[0].family][name] = measure_scores(scores[name])
        sizes[name] = (len(of), len(scores[name].labels))
    if figures:
        by_name = {name: measured for of_family in figures.values() for name, measured in of_family.items()}
        console.print(draw_figures(by_name, sizes=sizes, macro=average(figures), families=len(figures)))
        console.print(draw_reliability(list(scores.values())))
    for source, (right, wrong) in use.items():
        console.print(f"used, {source}: right {right:.3f}, wrong {wrong:.3f}")
    per_trace, per_context, words = measure_cpu(rows)
    console.print(f"CPU {per_trace:.2f} ms a trace, {per_context:.2f} ms a context of {words:.0f} words")


def main() -> int:
    """Reads and shows; 2 for a file that holds no labelled rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path, help="files of labelled rows")
    try:
        show(read_rows(parser.parse_args().data))
    except WrongDataError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
