"""One trace for people: what was asked, found and answered, what judges said of it, and what followed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ragsonde.page.marked_text import Piece, mark_sentences
from ragsonde.page.wording import say_moment
from ragsonde.scoring.bands import find_band
from ragsonde.scoring.meanings import CAUSES, STATES
from ragsonde.scoring.phrases import quote_reasons
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.score import Score
from ragsonde_schemas.stream_labels import judge_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.assessment import Assessment, ContextVerdict
    from ragsonde_schemas.history import EvaluationHistory, RevisionHistory, TraceHistory
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Context, Trace


@dataclass(frozen=True, kw_only=True)
class OutcomeLine:
    """What one scorer made of the trace; `value` is `` where there is no number."""

    scorer: str
    value: str
    reads_as: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class EvaluationView:
    """What one judge did.

    Attributes:
        judge: its name and fingerprint.
        facts: state, cause, cost, in words.
        hidden: scores of other versions than those that count, in words.
    """

    judge: str
    facts: tuple[str, ...]
    outcomes: tuple[OutcomeLine, ...]
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ContextView:
    """One context with what a judge said of it.

    Attributes:
        badges: words with a tone: (`relevant`, `good`).
    """

    number: str
    source: str
    badges: tuple[tuple[str, str], ...]
    reason: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class RecordView:
    """The newest revision of a record, and what older ones there are.

    Attributes:
        judges: whose verdicts can be shown.
        shown: of these, whose are.
        contexts: None = not known, () = none retrieved.
    """

    key: str
    place: str
    times: tuple[str, ...]
    trace: Trace | None
    evaluations: tuple[EvaluationView, ...]
    judges: tuple[str, ...]
    shown: str
    verdict: Assessment | None
    contexts: tuple[ContextView, ...] | None
    warnings: tuple[str, ...]
    older: tuple[str, ...]


def view_trace(
    history: TraceHistory, *, scorers: Mapping[str, Scorer], judge: str | None = None
) -> tuple[RecordView, ...]:
    """A view of each record.

    Args:
        history: all that is known.
        scorers: by instance name, for the words of their bands.
        judge: whose verdicts are shown; None or an unknown one: of those who gave any the last in the order
            of the evaluations that calls a model, else the first.
    """
    return tuple(
        _view_record(list(revisions), scorers=scorers, judge=judge)
        for _, revisions in groupby(history.revisions, key=lambda one: one.key)
    )


def _view_record(
    revisions: Sequence[RevisionHistory], *, scorers: Mapping[str, Scorer], judge: str | None
) -> RecordView:
    *older, newest = revisions
    assessed = {_name(one): one.assessment for one in newest.evaluations if one.assessment is not None}
    shown = judge if judge in assessed else _choose_judge(newest.evaluations)
    assessment = assessed.get(shown)
    trace = newest.trace
    return RecordView(
        key=newest.key.record_key,
        place=", ".join(
            name
            for name in (show_app(newest.key.app), newest.environment, newest.release, newest.variant)
            if name
        ),
        times=_list_times(newest),
        trace=trace,
        evaluations=tuple(_view_evaluation(one, scorers=scorers) for one in newest.evaluations),
        judges=tuple(assessed),
        shown=shown,
        verdict=assessment,
        contexts=_view_contexts(trace, assessment),
        warnings=trace.extraction.warnings if trace is not None else (),
        older=tuple(_describe_older(one) for one in reversed(older)),
    )


def _choose_judge(evaluations: Sequence[EvaluationHistory]) -> str:
    assessed = [one for one in evaluations if one.assessment is not None]
    asked = [one for one in assessed if one.calls]
    chosen = asked[-1:] or assessed[:1]
    return _name(chosen[0]) if chosen else ""


def _name(evaluation: EvaluationHistory) -> str:
    return judge_label(evaluation.key.judge, evaluation.key.fingerprint)


def _list_times(revision: RevisionHistory) -> tuple[str, ...]:
    occurred = "first seen" if revision.occurred_at_guessed else "occurred"
    times = [f"{occurred} {say_moment(revision.occurred_at)}", f"stored {say_moment(revision.admitted_at)}"]
    if revision.revision > 1:
        times.append(f"revision {revision.revision}")
    return tuple(times)


def _describe_older(revision: RevisionHistory) -> str:
    return f"revision {revision.revision}, stored {say_moment(revision.admitted_at)}: counts no more"


def _view_evaluation(evaluation: EvaluationHistory, *, scorers: Mapping[str, Scorer]) -> EvaluationView:
    facts = [STATES.get(evaluation.state, evaluation.state.value.replace("_", " "))]
    if evaluation.cause is not None:
        facts.append(CAUSES.get(evaluation.cause, evaluation.cause.value))
    assessment = evaluation.assessment
    if assessment is not None and assessment.answered_model:
        facts.append(f"answered by {assessment.answered_model}")
    if assessment is not None and assessment.is_cached:
        facts.append("verdicts given earlier, for the same content")
    if evaluation.calls:
        cost = "price unknown" if evaluation.cost_usd is None else f"${evaluation.cost_usd:.4f}"
        calls = "1 call" if evaluation.calls == 1 else f"{evaluation.calls} calls"
        facts.append(
            f"{calls}, {evaluation.tokens_in or 0:,} + {evaluation.tokens_out or 0:,} tokens, {cost}"
        )
    if evaluation.sample_rate < 1:
        facts.append(f"sample rate {evaluation.sample_rate:.2%}")
    return EvaluationView(
        judge=_name(evaluation),
        facts=tuple(facts),
        outcomes=tuple(
            _view_outcome(one, scorers.get(one.scorer), assessment=assessment) for one in evaluation.outcomes
        ),
        hidden=tuple(_describe_hidden(one) for one in evaluation.hidden),
    )


def _describe_hidden(outcome: Outcome) -> str:
    value = f"{outcome.value:g}" if isinstance(outcome, Score) else outcome.status
    return f"{outcome.scorer} {value} of version {outcome.version}"


def _view_outcome(outcome: Outcome, scorer: Scorer | None, *, assessment: Assessment | None) -> OutcomeLine:
    if not isinstance(outcome, Score):
        cause = CAUSES.get(outcome.cause, outcome.cause.value)
        reads_as = "not scored" if outcome.status == "skipped" else "not scored: an error"
        return OutcomeLine(scorer=outcome.scorer, value="", reads_as=reads_as, reason=outcome.reason or cause)
    reads_as = outcome.band.replace("_", " ")
    if scorer is not None:
        reads_as = find_band(scorer.formula.bands, raw=outcome.raw).words.partition(":")[0]
    if outcome.passed is False:
        reads_as += ", below its threshold"
    return OutcomeLine(
        scorer=outcome.scorer,
        value=f"{outcome.value:g}",
        reads_as=reads_as,
        # what the judge said of each context stands beside the context
        reason=outcome.reason.removesuffix(quote_reasons(assessment.contexts if assessment else None)),
    )


def _view_contexts(trace: Trace | None, assessment: Assessment | None) -> tuple[ContextView, ...] | None:
    if trace is None or trace.contexts is None:
        return None
    verdicts = (assessment.contexts if assessment is not None else None) or {}
    essential = frozenset(assessment.essential or ()) if assessment is not None else frozenset()
    relevant = frozenset(assessment.relevant_sentences or ()) if assessment is not None else frozenset()
    return tuple(
        ContextView(
            number=context.number,
            source=_describe_source(context),
            badges=_list_badges(verdicts.get(context.number)),
            reason=(verdict.reason or "") if (verdict := verdicts.get(context.number)) is not None else "",
            pieces=mark_sentences(context.content, context.sentences, essential=essential, relevant=relevant),
        )
        for context in trace.contexts
    )


def _describe_source(context: Context) -> str:
    parts = [part for part in (context.id, context.source_uri) if part]
    if context.score is not None:
        parts.append(f"retrieval score {context.score:g}")
    return ", ".join(parts)


def _list_badges(verdict: ContextVerdict | None) -> tuple[tuple[str, str], ...]:
    if verdict is None:
        return ()
    badges: list[tuple[str, str]] = []
    if verdict.relevant is not None:
        badges.append(("relevant", "good") if verdict.relevant else ("not relevant", "bad"))
    if verdict.level is not None:
        badges.append((f"level {verdict.level.value}", "quiet"))
    if verdict.used is not None:
        badges.append(("used in the answer", "good") if verdict.used else ("not used", "quiet"))
    if verdict.supports is not None:
        supports = ("supports the reference", "good") if verdict.supports else ("no support", "bad")
        badges.append(supports)
    return tuple(badges)
