"""A stored trace judged once more for a person: shown, and nowhere stored or counted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ragsonde.cli.evaluation_answers import count_usage, tell_usage
from ragsonde.cli.evaluation_choice import choose_judge, choose_scorers
from ragsonde.cli.story import Line, tell_verdicts
from ragsonde.judging.options import Reasons
from ragsonde.pipeline.judging import judge_and_score
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.settings import Settings
    from ragsonde_schemas.evaluation import EvaluationResult
    from ragsonde_schemas.history import RevisionHistory, TraceHistory


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a judge says of one revision when it is asked now."""

    revision: RevisionHistory
    judge: str
    fingerprint: str
    result: EvaluationResult

    def dump(self) -> dict[str, Any]:
        """For scripts."""
        return {
            **self.revision.key.model_dump(mode="json"),
            "revision": self.revision.revision,
            "judge": self.judge,
            "fingerprint": self.fingerprint,
            **self.result.model_dump(mode="json", exclude={"calls_before_outage"}),
        }


def ask_again(history: TraceHistory, judge_name: str, *, settings: Settings) -> list[Answer]:
    """The verdicts of a judge, with a reason for each context, on the newest revision of each record.

    The trace is judged for all scorers of the settings, by its texts as they are stored; neither the cache
    nor the judge's budget is looked at.

    Raises:
        InputError: there is no such judge, or retention has dropped the texts.
        JudgeUnavailableError, JudgePausedError: the judge cannot answer now.
    """
    reasoned = [options.model_copy(update={"reasons": Reasons.CONTEXT}) for options in settings.judges]
    scorers = choose_scorers(None, settings=settings)
    judge = choose_judge(
        judge_name,
        settings=settings.model_copy(update={"judges": tuple(reasoned)}),
        scorers=scorers,
        option="--ask",
    )
    answers = []
    for _, revisions in groupby(history.revisions, key=lambda one: one.key):
        *_, newest = revisions
        if newest.trace is None:
            raise InputError(
                f"{history.trace_id}: its texts have been dropped by retention, there is nothing to judge"
            )
        result = judge_and_score(newest.trace, scorers=scorers, judge=judge)
        fallback = result.assessment.answered_fingerprint if result.assessment else None
        fingerprint = fallback or judge.fingerprint
        answers.append(Answer(revision=newest, judge=judge.name, fingerprint=fingerprint, result=result))
    return answers


def tell_answers(answers: list[Answer]) -> Iterator[Line]:
    """The answers in plain words, and what they cost."""
    for answer in answers:
        key = answer.revision.key
        record = f", record {key.record_key}" if key.record_key else ""
        where = f"trace {key.trace_id}{record}, app {show_app(key.app)}, revision {answer.revision.revision}"
        yield Line(where, "bold")
        yield Line(
            f"  judge {answer.judge}@{answer.fingerprint[:6]}, asked now; not stored, in no mean", "bold"
        )
        if answer.result.calls:
            yield Line(f"    {tell_usage(count_usage(answer.result.calls))}")
        assessment = answer.result.assessment
        if assessment is not None and assessment.reason and not assessment.insufficient:
            yield Line(f"    {assessment.reason}")
        yield from tell_verdicts(assessment, answer.result.outcomes)
