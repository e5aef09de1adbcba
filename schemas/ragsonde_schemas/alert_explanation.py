"""What an alert tells of the time around its fall, beside drops and traces: four keys of its explanation.

Each key is absent where nothing is to be told or nothing is known. `before` is the day that ends when the
fall began, `after` what came then, of the fall's stream and place, at most a day. Numbers and names only.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class MovedRule(TypedDict):
    """A rule of extraction that finds a field more or less often than before, by more than 10 points.

    Attributes:
        field: such as `contexts`.
        rule: such as `native:contexts`.
        before, after: the share of the field's traces, 0 to 1.
    """

    field: str
    rule: str
    before: float
    after: float


class ExtractionMoved(TypedDict):
    """`extraction`: fields are found by other rules than before.

    Attributes:
        moved: at most 10, the largest move first.
        n_before, n_after: traces.
    """

    moved: list[MovedRule]
    n_before: int
    n_after: int


class Spread(TypedDict):
    """How a quantity is spread over traces: mean, tenth, middle and ninetieth of a hundred."""

    mean: float
    p10: float
    p50: float
    p90: float


class BeforeAndAfter(TypedDict):
    """One quantity on both sides of the beginning of the fall."""

    before: Spread
    after: Spread


class ContextsChange(TypedDict, total=False):
    """`contexts`: how many contexts a trace has, or how long they are together, is other than before.

    Attributes:
        count: contexts of a trace; absent where that did not change.
        characters: of all contexts of a trace; absent where that did not change, or texts are not stored.
        n_before, n_after: traces looked at; always there.
    """

    count: BeforeAndAfter
    characters: BeforeAndAfter
    n_before: int
    n_after: int


class CheckSetDrift(TypedDict):
    """`check_set`: how this judge scores the same traces of the check set after the fall began and before.

    Attributes:
        drift: mean of (after - before) over the traces.
        stderr: of it; None for one trace.
        before, after: mean scores, 0 to 1.
        n: traces.
        has_moved: by more than chance, and by the smallest drop that matters.
        is_steady: it has not moved, and two standard errors are so small that it would have been seen; where
            neither holds it is not known. Absent in what older versions wrote.
    """

    drift: float
    stderr: float | None
    before: float
    after: float
    n: int
    has_moved: bool
    is_steady: NotRequired[bool]


class AnswersChange(TypedDict):
    """`answers`: answers changed, retrieval probably not.

    To the lexical judge contexts fit questions as before, and answers less, or more answers decline.

    Attributes:
        retrieval_before, retrieval_after: mean probability that a context is relevant to the question alone.
        answer_before, answer_after: that it is relevant to question and answer, of traces with an answer.
        declined_before, declined_after: share of traces without an answer that can be looked at.
        n_before, n_after: traces.
    """

    retrieval_before: float
    retrieval_after: float
    answer_before: float | None
    answer_after: float | None
    declined_before: float
    declined_after: float
    n_before: int
    n_after: int


class AlertCircumstances(TypedDict, total=False):
    """The four keys, as they stand in the explanation of an alert."""

    extraction: ExtractionMoved
    contexts: ContextsChange
    check_set: CheckSetDrift
    answers: AnswersChange
