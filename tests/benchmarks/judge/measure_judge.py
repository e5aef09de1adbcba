"""Measures the lexical judge on labelled rows, per source.

    python tests/benchmarks/judge/measure_judge.py DATA.jsonl...

Columns: questions and contexts; AUC of the question alone and with the person's answer; F1, and the shares of
relevant and of irrelevant contexts called relevant, with the answer (without one where the source has none);
Brier score and calibration error of the same probabilities; the share of contexts called relevant when the
answer belongs to another question. Sources marked * were fitted on: their held-out figures are what
`fit_weights.py` prints. Sources that say which contexts a given answer rests on give the shares of those and
of the others called used.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from labelled_rows import LabelledRow, read_rows
from rich.console import Console
from rich.progress import track
from rich.table import Table
from statistics_of_scores import measure_auc, measure_calibration_error, measure_f1, measure_rates

from ragsonde.extraction.sentences import number_sentences
from ragsonde.judging.lexical.judge import LexicalJudge
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.trace import Context, Extraction, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logistic_fit import Floats

    from ragsonde_schemas.assessment import Assessment

ASPECTS = frozenset(Aspect)
console = Console()
judge = LexicalJudge()


def to_trace(row: LabelledRow, *, answer: str) -> Trace:
    """The trace of a row, its contexts numbered and cut as in production."""
    return Trace(
        trace_id=row.group,
        occurred_at=datetime(2024, 1, 1, tzinfo=UTC),
        query=row.query,
        answer=answer,
        contexts=tuple(
            Context(
                rank=rank,
                content=context.text,
                sentences=number_sentences(context.text, context_number=str(rank + 1)),
            )
            for rank, context in enumerate(row.contexts)
        ),
        content_hash="",
        extraction=Extraction(format="benchmark"),
    )


def read_probabilities(assessment: Assessment, *, head: str, count: int) -> list[float]:
    """The probabilities of a head; 0 for blank contexts."""
    noted = assessment.notes.get(head, {})
    return [noted.get(str(number), 0.0) for number in range(1, count + 1)]


def measure_source(rows: Sequence[LabelledRow]) -> tuple[list[str], dict[str, float]]:
    """The figures of one source, as cells of the table, and the two AUCs."""
    labels, alone, together, told, wrong = [], [], [], [], []
    answers = [row.expected or row.answer for row in rows]
    for place, row in enumerate(rows):
        count = len(row.contexts)
        labels.extend(float(context.is_relevant) for context in row.contexts)
        assessment = judge.assess(to_trace(row, answer=answers[place]), ASPECTS)
        alone.extend(read_probabilities(assessment, head="query_only", count=count))
        together.extend(read_probabilities(assessment, head=assessment.head or "query_only", count=count))
        told.extend(verdict.relevant for verdict in (assessment.contexts or {}).values())
        other = answers[place - 1]
        if other and other != answers[place]:
            mistaken = judge.assess(to_trace(row, answer=other), ASPECTS)
            wrong.extend(verdict.relevant for verdict in (mistaken.contexts or {}).values())
    has_answer = any(answers)
    figures = {"query_only": measure_auc(np.array(alone), np.array(labels))}
    if has_answer:
        figures["query_answer"] = measure_auc(np.array(together), np.array(labels))
    cells = list_cells(np.array(labels), np.array(together), np.array(told, dtype=float))
    return (
        [
            f"{len(rows)}/{len(labels)}",
            f"{figures['query_only']:.3f}",
            f"{figures['query_answer']:.3f}" if has_answer else "-",
            *cells,
            f"{np.mean(wrong):.3f}" if wrong else "-",
        ],
        figures,
    )


def measure_used(rows: Sequence[LabelledRow]) -> tuple[float, float]:
    """The shares of contexts that the answer rests on, and of others, that are called used."""
    labels, told = [], []
    for row in rows:
        verdicts = judge.assess(to_trace(row, answer=row.answer), ASPECTS).contexts or {}
        labels.extend(float(bool(context.is_used)) for context in row.contexts)
        told.extend(float(bool(verdict.used)) for verdict in verdicts.values())
    return measure_rates(np.array(told), np.array(labels), 1.0)


def list_cells(labels: Floats, probabilities: Floats, told: Floats) -> list[str]:
    """F1, the two rates, Brier score and calibration error."""
    yes, no = measure_rates(told, labels, 1.0) if 0 < labels.mean() < 1 else (float("nan"), float("nan"))
    brier = float(np.mean((probabilities - labels) ** 2))
    error = measure_calibration_error(probabilities, labels)
    return [f"{value:.3f}" for value in (measure_f1(told, labels, 1.0), yes, no, brier, error)]


def measure_cpu(rows: Sequence[LabelledRow]) -> tuple[float, float, float]:
    """CPU milliseconds a trace and a context, all aspects, sentences not counted; words a context."""
    traces = [to_trace(row, answer=row.expected or row.answer) for row in rows]
    began = time.process_time()
    for trace in traces:
        judge.assess(trace, ASPECTS)
    milliseconds = (time.process_time() - began) * 1000
    texts = [context.content for trace in traces for context in trace.contexts or ()]
    words = sum(len(text.split()) for text in texts)
    return milliseconds / len(traces), milliseconds / len(texts), words / len(texts)


def main() -> None:
    """Reads, judges, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path, help="files of labelled rows")
    rows = read_rows(parser.parse_args().data)
    by_source: dict[str, list[LabelledRow]] = defaultdict(list)
    for row in rows:
        by_source[row.source].append(row)
    table = Table(title=f"lexical judge, weights {judge.fingerprint}")
    names = ("source", "n", "auc q", "auc q+a", "f1", "right", "wrong", "brier", "ece", "wrong answer")
    for name in names:
        table.add_column(name, justify="left" if name == "source" else "right", no_wrap=True)
    figures: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    use: dict[str, tuple[float, float]] = {}
    for source in track(sorted(by_source), description="judging", console=console, transient=True):
        if any(context.is_used is not None for row in by_source[source] for context in row.contexts):
            use[source] = measure_used(by_source[source])
            continue
        cells, measured = measure_source(by_source[source])
        mark = "*" if by_source[source][0].is_permitted else ""
        table.add_row(source + mark, *cells)
        figures[by_source[source][0].family][source] = measured
    console.print(table)
    show_macro(figures)
    for source, (right, wrong) in use.items():
        console.print(f"used, {source}: right {right:.3f}, wrong {wrong:.3f}")
    per_trace, per_context, words = measure_cpu(rows)
    console.print(f"CPU {per_trace:.2f} ms a trace, {per_context:.2f} ms a context of {words:.0f} words")


def show_macro(figures: dict[str, dict[str, dict[str, float]]]) -> None:
    """Prints the mean AUC over sources, all translations of a corpus as one."""
    for head in ("query_only", "query_answer"):
        families = [
            np.mean([measured[head] for measured in of.values() if head in measured])
            for of in figures.values()
            if any(head in measured for measured in of.values())
        ]
        if families:
            mean = np.mean(families)
            console.print(f"macro AUC {head}, {len(families)} sources (translations as one): {mean:.4f}")


if __name__ == "__main__":
    main()
