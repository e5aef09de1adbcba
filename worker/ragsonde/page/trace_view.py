"""One trace for people: what was asked, found and answered, what judges said of it, and what followed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ragsonde.page.context_view import view_contexts
from ragsonde.page.links import link_place, link_trace
from ragsonde.page.wording import describe_cause, drop_probability, say_moment, say_name, say_place, say_score
from ragsonde.scoring.bands import find_band
from ragsonde.scoring.meanings import STATES
from ragsonde.scoring.phrases import quote_reasons
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.score import Score
from ragsonde_schemas.stream_labels import judge_label
from ragsonde_schemas.watched import Place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.page.context_view import ContextView
    from ragsonde.scoring.formula import Remedy
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.history import EvaluationHistory, RevisionHistory, TraceHistory
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace


@dataclass(frozen=True, kw_only=True)
class OutcomeLine:
    """What one scorer made of the trace.

    Attributes:
        value: on the scorer's scale; `` where there is no number.
        remedies: what to try; of a low score alone.
    """

    scorer: str
    value: str
    reads_as: str
    reason: str
    remedies: tuple[Remedy, ...] = ()


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

    @property
    def lines(self) -> tuple[tuple[str, OutcomeLine], ...]:
        """The outcomes, each with the judge whose they are."""
        return tuple((self.judge, one) for one in self.outcomes)


@dataclass(frozen=True, kw_only=True)
class OlderRevision:
    """A revision that a newer one replaced: when it was stored, and the scores it had."""

    words: str
    outcomes: tuple[tuple[str, OutcomeLine], ...]


@dataclass(frozen=True, kw_only=True)
class RecordView:
    """The newest revision of a record, and what older ones there are.

    Attributes:
        place: app, environment, release, variant.
        place_link: the overview that its trace is of.
        anchor: begins the ids of its elements: of several records each has another.
        judges: whose verdicts can be shown, each with the address that shows them.
        shown: of these, whose are.
        contexts: None = not known, () = none retrieved.
    """

    key: str
    place: tuple[str, ...]
    place_name: str
    place_link: str
    anchor: str
    times: tuple[str, ...]
    trace: Trace | None
    evaluations: tuple[EvaluationView, ...]
    judges: tuple[tuple[str, str], ...]
    shown: str
    verdict: Assessment | None
    contexts: tuple[ContextView, ...] | None
    warnings: tuple[str, ...]
    older: tuple[OlderRevision, ...]


def view_trace(
    history: TraceHistory,
    *,
    scorers: Mapping[str, Scorer],
    judge: str | None = None,
    app: str | None = None,
) -> tuple[RecordView, ...]:
    """A view of each record.

    Args:
        history: all that is known.
        scorers: by instance name, for the words of their bands.
        judge: whose verdicts are shown; None or an unknown one: of those who gave any the last in the order
            of the evaluations that calls a model, else the first.
        app: as it was asked for; None: it was not.
    """
    return tuple(
        _view_record(list(revisions), scorers=scorers, judge=judge, asked=app, anchor=f"record-{number}-")
        for number, (_, revisions) in enumerate(groupby(history.revisions, key=lambda one: one.key), 1)
    )


def _view_record(
    revisions: Sequence[RevisionHistory],
    *,
    scorers: Mapping[str, Scorer],
    judge: str | None,
    asked: str | None,
    anchor: str,
) -> RecordView:
    *older, newest = revisions
    assessed = {_name(one): one.assessment for one in newest.evaluations if one.assessment is not None}
    shown = judge if judge in assessed else _choose_judge(newest.evaluations)
    assessment = assessed.get(shown)
    trace = newest.trace
    place = Place(app=newest.key.app, environment=newest.environment)
    return RecordView(
        key=newest.key.record_key,
        place=tuple(
            name
            for name in (show_app(newest.key.app), newest.environment, newest.release, newest.variant)
            if name
        ),
        place_name=say_place(place),
        place_link=link_place(place),
        anchor=anchor,
        times=_list_times(newest),
        trace=trace,
        evaluations=tuple(_view_evaluation(one, scorers=scorers) for one in newest.evaluations),
        judges=tuple((name, link_trace(newest.key.trace_id, app=asked, judge=name)) for name in assessed),
        shown=shown,
        verdict=assessment,
        contexts=view_contexts(trace, assessment),
        warnings=trace.extraction.warnings if trace is not None else (),
        older=tuple(_view_older(one, scorers=scorers) for one in reversed(older)),
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


def _view_older(revision: RevisionHistory, *, scorers: Mapping[str, Scorer]) -> OlderRevision:
    stored = say_moment(revision.admitted_at)
    return OlderRevision(
        words=f"revision {revision.revision}, stored {stored}: counts no more",
        outcomes=tuple(
            (_name(evaluation), _view_outcome(outcome, scorers.get(outcome.scorer), assessment=None))
            for evaluation in revision.evaluations
            for outcome in evaluation.outcomes
        ),
    )


def _view_evaluation(evaluation: EvaluationHistory, *, scorers: Mapping[str, Scorer]) -> EvaluationView:
    facts = [STATES.get(evaluation.state, say_name(evaluation.state.value))]
    if evaluation.cause is not None:
        facts.append(describe_cause(evaluation.cause))
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
        facts.append(f"sample rate {evaluation.sample_rate:.2%}".replace("%", "\u00a0%"))
    return EvaluationView(
        judge=_name(evaluation),
        facts=tuple(facts),
        outcomes=tuple(
            _view_outcome(one, scorers.get(one.scorer), assessment=assessment) for one in evaluation.outcomes
        ),
        hidden=tuple(_describe_hidden(one) for one in evaluation.hidden),
    )


def _describe_hidden(outcome: Outcome) -> str:
    value = say_score(outcome.value) if isinstance(outcome, Score) else outcome.status
    return f"{outcome.scorer} {value} of version {outcome.version}"


def _view_outcome(outcome: Outcome, scorer: Scorer | None, *, assessment: Assessment | None) -> OutcomeLine:
    if not isinstance(outcome, Score):
        cause = describe_cause(outcome.cause)
        reads_as = "not scored" if outcome.status == "skipped" else "not scored: an error"
        return OutcomeLine(scorer=outcome.scorer, value="", reads_as=reads_as, reason=outcome.reason or cause)
    reads_as = say_name(outcome.band)
    if scorer is not None:
        reads_as = find_band(scorer.formula.bands, raw=outcome.raw).words.partition(":")[0]
    if outcome.passed is False:
        reads_as += ", below its threshold"
    return OutcomeLine(
        scorer=outcome.scorer,
        value=say_score(outcome.value),
        reads_as=reads_as,
        # what the judge said of each context stands beside the context
        reason=drop_probability(
            outcome.reason.removesuffix(quote_reasons(assessment.contexts if assessment else None))
        ),
        remedies=() if scorer is None or not _is_low(outcome, scorer) else scorer.formula.remedies,
    )


def _is_low(outcome: Score, scorer: Scorer) -> bool:
    """True below its threshold, or in the lower half of the bands of a scorer of which less is worse."""
    bands = scorer.formula.bands
    if scorer.formula.direction.value != "higher":
        return outcome.passed is False
    return outcome.passed is False or bands.index(find_band(bands, raw=outcome.raw)) * 2 >= len(bands)
