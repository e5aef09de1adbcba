"""The features and labels that each head of the lexical judge is fitted on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from answer_forms import list_forms

from ragsonde.judging.lexical.features import measure_answer, measure_question
from ragsonde.judging.lexical.probe import read_answer, read_question

if TYPE_CHECKING:
    from labelled_rows import LabelledContext, LabelledRow
    from logistic_fit import Floats

    from ragsonde.judging.lexical.features import Measure
    from ragsonde.judging.lexical.probe import Probe

HEADS = ("query_only", "query_answer", "sentence_query_only", "sentence_query_answer")


@dataclass(frozen=True)
class Origin:
    """Where an example comes from, and how much it counts within its family."""

    trace: int
    family: str
    group: str
    level: str
    is_in_relevant: bool
    share: float = 1.0


@dataclass
class Table:
    """The examples of one head."""

    rows: list[tuple[float, ...]] = field(default_factory=list)
    labels: list[float] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)

    def add(self, values: tuple[float, ...], *, label: bool, origin: Origin) -> None:
        self.rows.append(values)
        self.labels.append(float(label))
        self.origins.append(origin)

    def list_labels(self) -> Floats:
        return np.array(self.labels)

    def weigh(self) -> Floats:
        """What each example counts: every family the same, whatever its size."""
        totals: dict[str, float] = {}
        for origin in self.origins:
            totals[origin.family] = totals.get(origin.family, 0.0) + origin.share
        return np.array([origin.share / totals[origin.family] for origin in self.origins])


def gather_tables(rows: list[LabelledRow]) -> dict[str, Table]:
    """The tables by head."""
    tables = {name: Table() for name in HEADS}
    for trace, row in enumerate(rows):
        question = read_question(row.query)
        forms = [(read_answer(text, questions=[question]), share) for text, share in list_forms(row)]
        answers = [(probe, share) for probe, share in forms if probe is not None]
        for context in row.contexts:
            asked = measure_question(question, context.reading)
            _add_context(tables, context, asked=asked, answers=answers, row=row, trace=trace)
    return tables


def _add_context(
    tables: dict[str, Table],
    context: LabelledContext,
    *,
    asked: Measure,
    answers: list[tuple[Probe, float]],
    row: LabelledRow,
    trace: int,
) -> None:
    told = (trace, row.family, row.group, context.level or "", context.is_relevant)
    tables["query_only"].add(asked.values, label=context.is_relevant, origin=Origin(*told))
    found = [
        (measure_answer(probe, context.reading, question_by_sentence=asked.by_sentence), share)
        for probe, share in answers
    ]
    for measure, share in found:
        values = asked.values + measure.values
        tables["query_answer"].add(values, label=context.is_relevant, origin=Origin(*told, share))
    for place, label in enumerate(context.is_evidence):
        if label is None:
            continue
        alone = (asked.by_sentence[place],)
        tables["sentence_query_only"].add(alone, label=label, origin=Origin(*told))
        if found:
            both = (*alone, found[0][0].by_sentence[place])
            tables["sentence_query_answer"].add(both, label=label, origin=Origin(*told))
