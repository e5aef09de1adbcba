"""The history of a trace as lines of plain words, each fact once: `--output json` has all of it at length."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.cli.causes import MEANINGS
from ragsonde.cli.parked_advice import tell_parked
from ragsonde.cli.program import name_command
from ragsonde.cli.suspicions import describe_suspicions
from ragsonde.scoring.meanings import STATES
from ragsonde.scoring.phrases import quote_reasons
from ragsonde.scoring.table import FORMULAS
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.open_record import ClosingReason
from ragsonde_schemas.score import Score, Unscored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from ragsonde_schemas.assessment import Assessment, ContextVerdict
    from ragsonde_schemas.history import (
        EvaluationHistory,
        GatheredSpans,
        ParkedMessage,
        RevisionHistory,
        TraceHistory,
    )
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace

_TEXT_MAX_CHARACTERS = 160

_BAND_WORDS = {
    (formula.id, band.key): band.words.partition(":")[0] for formula in FORMULAS for band in formula.bands
}
"""By scorer and band; an instance of another name is told by the band's key."""

_CLOSINGS = {
    ClosingReason.WHOLE: "one message brought all of it",
    ClosingReason.END_MARKER: "a span said that it was the end",
    ClosingReason.QUIET: "its root had come, and then nothing new",
    ClosingReason.NO_ROOT: "no root came, and nothing new",
    ClosingReason.MAX_WAIT: "it had been waited for long enough",
    ClosingReason.OVER_LIMIT: "as many as are kept of one trace",
}


class Line(NamedTuple):
    """One line for the terminal; `style` as Rich takes it."""

    text: str
    style: str = ""


def tell_history(history: TraceHistory, *, similar_ids: Sequence[str] = ()) -> Iterator[Line]:
    """All that is known of a trace; where nothing is, one sentence that says so, and the similar ids."""
    if not history.revisions and not history.parked and history.spans is None:
        yield Line(
            f"{history.trace_id}: never seen. No trace and no parked message of that id is stored: it has "
            "not arrived, its id is another one, or its retention is over."
        )
        if similar_ids:
            yield Line("stored ids that contain it, the newest days first:")
        for similar_id in similar_ids:
            yield Line(f"  {name_command(f'why {shlex.quote(similar_id)}')}")
    if history.spans is not None and not history.revisions:
        text, style = _tell_spans(history.spans)
        yield Line(f"trace {history.trace_id}: {text}", style)
    yield from _tell_records(history)
    for message in history.parked:
        yield from _tell_parked(message)


def tell_verdicts(assessment: Assessment | None, outcomes: Sequence[Outcome]) -> Iterator[Line]:
    """What a judge said of a trace, and the scores that follow from it."""
    if assessment is not None:
        yield from _tell_assessment(assessment, outcomes)
    for group in _group_outcomes(outcomes):
        yield _tell_outcomes(group, assessment)


def _tell_spans(spans: GatheredSpans) -> Line:
    came = f"{spans.span_count} spans came ({spans.format})"
    if spans.next_close_at is not None:
        root = "the root is among them" if spans.has_root else "the root is not"
        text = f"waiting: {came}, {root}; evaluated after {_say(spans.next_close_at)} unless more come"
        return Line(text, "yellow")
    if spans.is_stored:
        return Line(f"{came}, taken as complete: {_CLOSINGS[spans.reason]}")
    return Line(f"{came}; not stored: none of them tells of retrieval or of a model", "yellow")


def _tell_records(history: TraceHistory) -> Iterator[Line]:
    """Each record by its newest revision, then what was different in the older ones."""
    last_place = ""
    for _, revisions in groupby(history.revisions, key=lambda one: one.key):
        *older, newest = revisions
        place = ", ".join(
            name
            for name in (
                f"app {show_app(newest.key.app)}",
                newest.environment,
                newest.release,
                newest.variant,
            )
            if name
        )
        names = (
            "" if last_place else f"trace {history.trace_id}",
            f"record {newest.key.record_key}" if newest.key.record_key else "",
            "" if place == last_place else place,
            f"revision {newest.revision}",
        )
        yield Line(", ".join(name for name in names if name), "bold")
        if not last_place and history.spans is not None:
            text, style = _tell_spans(history.spans)
            yield Line(f"  {text}", style)
        last_place = place
        yield from _tell_newest(newest)
        for revision in reversed(older):
            yield from _tell_older(revision, newest)


def _tell_newest(revision: RevisionHistory) -> Iterator[Line]:
    yield Line(f"  {_tell_times(revision)}")
    yield from _tell_texts(revision.trace)
    for evaluation in revision.evaluations:
        yield from _tell_evaluation(evaluation, revision)


def _tell_older(revision: RevisionHistory, newest: RevisionHistory) -> Iterator[Line]:
    yield Line(f"  older: revision {revision.revision}, stored {_say(revision.admitted_at)}", "bold")
    known = set(_tell_texts(newest.trace))
    for line in _tell_texts(revision.trace):
        if line not in known:
            yield Line(f"  {line.text}", line.style)
    for evaluation in revision.evaluations:
        scores = ", ".join(map(_say_number, evaluation.outcomes))
        yield Line(f"    {_name_judge(evaluation)}: {scores or 'nothing scored'}")


def _tell_times(revision: RevisionHistory) -> str:
    guessed = ""
    if revision.occurred_at_guessed:
        guessed = f" (guessed; the producer said {revision.claimed_occurred_at or 'nothing'})"
    return f"occurred {_say(revision.occurred_at)}{guessed}, stored {_say(revision.admitted_at)}"


def _tell_texts(trace: Trace | None) -> Iterator[Line]:
    if trace is None:
        yield Line("  its texts have been dropped by retention")
        return
    yield Line(f"  question: {_shorten(trace.query)}")
    yield Line(f"  answer: {_shorten(trace.answer)}")
    if not trace.contexts and trace.missing_contexts is not None:
        yield Line(f"  contexts: {MEANINGS[trace.missing_contexts]}")
    for context in trace.contexts or ():
        name = f" ({context.id})" if context.id else ""
        text = "blank" if context.is_blank else _shorten(context.content)
        yield Line(f"  context {context.number}{name}: {text}")
    if trace.extraction.failure is not None:
        yield Line(f"  failed: {trace.extraction.failure}", "red")
    for suspicion in describe_suspicions(trace.extraction):
        yield Line(f"  {suspicion}", "yellow")
    for warning in trace.extraction.warnings:
        yield Line(f"  warning: {warning}", "yellow")


def _name_judge(evaluation: EvaluationHistory) -> str:
    return f"judge {evaluation.key.judge}@{evaluation.key.fingerprint[:6]}"


def _tell_evaluation(evaluation: EvaluationHistory, revision: RevisionHistory) -> Iterator[Line]:
    told = [_tell_outcomes(group, evaluation.assessment) for group in _group_outcomes(evaluation.outcomes)]
    cause = f" ({evaluation.cause})" if evaluation.cause else ""
    if len(told) == 1 and isinstance(evaluation.outcomes[0], Unscored):
        # all for one reason, which the contexts may have told already
        is_told = revision.trace is not None and evaluation.cause == revision.trace.missing_contexts
        cause += "" if is_told else f": {evaluation.outcomes[0].reason}"
        told = []
    yield Line(f"  {_name_judge(evaluation)}: {STATES[evaluation.state]}{cause}", "bold")
    if runs := _tell_runs(evaluation, revision):
        yield Line(f"    {', '.join(runs)}")
    if evaluation.assessment is not None:
        yield from _tell_assessment(evaluation.assessment, evaluation.outcomes)
    yield from told
    for outcome in evaluation.hidden:
        yield Line(f"    not shown: {_say_number(outcome)} of version {outcome.version}", "dim")


def _tell_runs(evaluation: EvaluationHistory, revision: RevisionHistory) -> list[str]:
    """What is not as it mostly is: judged once, always, as soon as it was stored."""
    born, stored = _say(evaluation.created_at), _say(revision.admitted_at)
    said = (
        (f"sample rate {evaluation.sample_rate:g}", evaluation.sample_rate < 1),
        (f"born {born}", born != stored),
        (f"started {evaluation.starts} times", evaluation.starts > 1),
        (f"{evaluation.attempts} failures of its own", evaluation.attempts > 0),
    )
    parts = [words for words, is_said in said if is_said]
    if evaluation.reopened_at is not None:
        parts.append(f"begun anew {_say(evaluation.reopened_at)}")
    if evaluation.next_attempt_at is not None:
        parts.append(f"due {_say(evaluation.next_attempt_at)}")
    if evaluation.lease_until is not None:
        parts.append(f"leased until {_say(evaluation.lease_until)}")
    if evaluation.finished_at is not None and _say(evaluation.finished_at) != born:
        parts.append(f"ended {_say(evaluation.finished_at)}")
    if evaluation.calls:
        cost = "cost unknown" if evaluation.cost_usd is None else f"{evaluation.cost_usd:.6f} USD"
        calls = "1 call" if evaluation.calls == 1 else f"{evaluation.calls} calls"
        parts.append(f"{calls}, {evaluation.tokens_in}+{evaluation.tokens_out} tokens, {cost}")
    return parts


def _tell_assessment(assessment: Assessment, outcomes: Sequence[Outcome]) -> Iterator[Line]:
    if assessment.answered_model is not None:
        yield Line(f"    {_tell_model(assessment)}")
    numbers: dict[str, list[str]] = {}
    for number, verdict in (assessment.contexts or {}).items():
        numbers.setdefault(_describe_verdict(verdict), []).append(number)
    for words, alike in numbers.items():
        yield Line(f"    context{'s' if len(alike) > 1 else ''} {', '.join(alike)}: {words}")
    if assessment.insufficient:
        reason = f": {assessment.reason}" if assessment.reason else ""
        yield Line(f"    the contexts do not suffice to answer{reason}")
    for aspect, fault in assessment.faults.items():
        if not any(fault.message in outcome.reason for outcome in outcomes):
            yield Line(f"    {aspect}: {fault.cause}: {fault.message}", "yellow")


def _tell_model(assessment: Assessment) -> str:
    """Whose stream of scores these verdicts belong to."""
    fallback, epoch = assessment.answered_fingerprint, assessment.judge_epoch
    instead = f", a fallback (@{fallback[:6]})" if fallback else ""
    return f"answered by {assessment.answered_model}{instead}, epoch {epoch}"


def _describe_verdict(verdict: ContextVerdict) -> str:
    said = (
        (f"level {verdict.level}", verdict.level),
        ("relevant" if verdict.relevant else "not relevant", verdict.relevant),
        ("supports the reference" if verdict.supports else "no support", verdict.supports),
        ("used" if verdict.used else "not used", verdict.used),
    )
    reason = f": {verdict.reason}" if verdict.reason else ""
    return ", ".join(words for words, value in said if value is not None) + reason


def _group_outcomes(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Those without a number for the same reason together, in order of the first of them."""
    groups: dict[object, list[Outcome]] = {}
    for outcome in outcomes:
        is_score = isinstance(outcome, Score)
        why = (outcome.scorer, outcome.version) if is_score else (outcome.status, outcome.reason)
        groups.setdefault((is_score, why), []).append(outcome)
    return list(groups.values())


def _tell_outcomes(alike: Sequence[Outcome], assessment: Assessment | None) -> Line:
    outcome = alike[0]
    if not isinstance(outcome, Score):
        names = ", ".join(one.scorer for one in alike)
        return Line(f"    {names} {outcome.status} ({outcome.cause}): {outcome.reason}", "yellow")
    passed = "" if outcome.passed is None else ", passed" if outcome.passed else ", below its threshold"
    reason = outcome.reason
    if assessment is not None:
        reason = reason.removesuffix(quote_reasons(assessment.contexts))
    if f"{outcome.value:.2f}" == f"{outcome.raw:.2f}":
        reason = reason.removeprefix(f"{outcome.raw:.2f}: ")
    words = _BAND_WORDS.get((outcome.scorer, outcome.band), outcome.band)
    return Line(f"    {outcome.scorer} {outcome.value:g} ({words}{passed}): {reason}", "green")


def _tell_parked(message: ParkedMessage) -> Iterator[Line]:
    heading, *lines = tell_parked(message)
    yield Line(heading, "bold")
    yield from map(Line, lines)


def _say_number(outcome: Outcome) -> str:
    return f"{outcome.scorer} {f'{outcome.value:g}' if isinstance(outcome, Score) else outcome.status}"


def _say(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _shorten(text: str | None) -> str:
    if text is None:
        return "none"
    line = " ".join(text.split())
    return line if len(line) <= _TEXT_MAX_CHARACTERS else f"{line[:_TEXT_MAX_CHARACTERS]}…"
