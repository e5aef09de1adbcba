"""All verdicts of one judge about one revision of a trace."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.value import Value


class Aspect(StrEnum):
    """One kind of question a judge can be asked about a trace."""

    RELEVANT = "relevant"
    """per context: relevant to question and answer"""
    SUPPORTS = "supports"
    """per context: supports the reference"""
    LEVEL = "level"
    """per context: high, medium, low, none"""
    USED = "used"
    """per context: used in the answer"""
    MISSING = "missing"
    """what the contexts lack"""
    ESSENTIAL = "essential"
    """the fewest sentences that suffice to answer, or `insufficient`"""
    RELEVANT_SENTENCES = "relevant_sentences"
    """the sentences on the question's subject"""
    STATEMENTS = "statements"
    """statements extracted from the contexts, each relevant or not"""
    CLAIMS = "claims"
    """claims of the answer, each supported by the contexts or not"""
    ANSWER_STATEMENTS = "answer_statements"
    """statements of the answer, each relevant to the question or not"""
    REFERENCE_STATEMENTS = "reference_statements"
    """statements of the reference, each attributed to the contexts or not"""
    RUBRICS = "rubrics"
    """the user's own questions, each with a rating"""


PER_CONTEXT = frozenset({Aspect.RELEVANT, Aspect.SUPPORTS, Aspect.LEVEL, Aspect.USED})


class Level(StrEnum):
    """How relevant a context is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


class Certainty(StrEnum):
    """A verdict that may be open."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


class ContextVerdict(Value):
    """Verdicts about one context; None where that aspect was not assessed."""

    relevant: bool | None = None
    supports: bool | None = None
    level: Level | None = None
    used: bool | None = None
    reason: str | None = None


class StatementVerdict(Value):
    """A statement taken from a context, and whether it is relevant to the question."""

    context: str | None = None
    text: str
    relevant: bool
    reason: str | None = None


class ClaimVerdict(Value):
    """A claim of the answer, whether the contexts support it, and the numbers of those that do."""

    text: str
    supported: Certainty
    contexts: tuple[str, ...] = ()


class AnswerStatementVerdict(Value):
    """A statement of the answer, and whether it is relevant to the question."""

    text: str
    relevant: Certainty


class ReferenceStatementVerdict(Value):
    """A statement of the reference, and whether it can be attributed to the contexts."""

    text: str
    attributed: bool


class RubricVerdict(Value):
    """The rating of one rubric, as it was written.

    Attributes:
        digest: of the rubric that was asked; None where that is not known, as in people's annotations.
    """

    rating: str
    digest: str | None = None


class Fault(Value):
    """Why an aspect cannot be used: its scorers become error(cause), never a number."""

    cause: Cause
    message: str


class Assessment(Value):
    """All verdicts of one judge about one revision.

    An aspect that was not assessed is None or absent. `faults` names the aspects whose verdicts came back
    unusable.

    Attributes:
        contexts: by context number; when not None it holds every context of the trace, blank ones too.
        essential, relevant_sentences: sentence numbers of this trace, in order; a context's own number
            stands expanded to all its sentences.
        rubrics: ratings by the rubric's name.
        insufficient: the contexts do not suffice to answer.
        sentences_shown: numbers of the sentences the judge saw; None = all.
        head: which head of the lexical judge gave the verdicts.
        abstained: the answer abstains ("I don't know").
        answered_model: as the provider tells it.
        answered_fingerprint: of the fallback that answered in the judge's place: a stream of its own; None =
            the judge's own.
        judge_epoch: counts the models that have answered under this fingerprint, from 1.
        is_cached: the verdicts were given earlier, for the same content.
        notes: anything else that explains the verdicts, as JSON values.
        calls: what was asked of a provider; empty for judges that call nobody.
    """

    contexts: dict[str, ContextVerdict] | None = None
    missing: tuple[str, ...] | None = None
    essential: tuple[str, ...] | None = None
    insufficient: bool | None = None
    relevant_sentences: tuple[str, ...] | None = None
    statements: tuple[StatementVerdict, ...] | None = None
    claims: tuple[ClaimVerdict, ...] | None = None
    answer_statements: tuple[AnswerStatementVerdict, ...] | None = None
    reference_statements: tuple[ReferenceStatementVerdict, ...] | None = None
    rubrics: dict[str, RubricVerdict] | None = None
    reason: str | None = None
    faults: dict[Aspect, Fault] = Field(default_factory=dict)
    sentences_shown: tuple[str, ...] | None = None
    truncated: bool = False
    head: str | None = None
    abstained: bool | None = None
    answered_model: str | None = None
    answered_fingerprint: str | None = None
    judge_epoch: int = 1
    is_cached: bool = False
    notes: dict[str, Any] = Field(default_factory=dict)
    calls: tuple[JudgeCall, ...] = ()
