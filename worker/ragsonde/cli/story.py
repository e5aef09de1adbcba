"""The history of a trace as lines of plain words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.cli.causes import MEANINGS
from ragsonde.cli.program import name_command
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.open_record import ClosingReason
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from ragsonde.storage.gathered_spans import GatheredSpans
    from ragsonde.storage.history import EvaluationHistory, RevisionHistory, TraceHistory
    from ragsonde.storage.parking_store import ParkedMessage
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace

_TEXT_MAX_CHARACTERS = 160

_MEANINGS = {
    EvaluationState.WAITING: "waits for its judge",
    EvaluationState.RUNNING: "is being judged",
    EvaluationState.SCORED: "scored",
    EvaluationState.NOT_EVALUABLE: "not scored: there is nothing to score",
    EvaluationState.FAILED: "not scored: it failed",
    EvaluationState.SAMPLED_OUT: "not judged: it is outside the sample",
    EvaluationState.FILTERED: "not judged: the message asked for none of the configured scorers",
    EvaluationState.SHED: "not judged: the budget is spent",
    EvaluationState.SUPERSEDED: "replaced by a newer revision",
}


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
    if history.spans is not None:
        yield _tell_spans(history.trace_id, history.spans)
    for revision in history.revisions:
        yield from _tell_revision(revision)
    for message in history.parked:
        yield from _tell_parked(message)


def _tell_spans(trace_id: str, spans: GatheredSpans) -> Line:
    came = f"trace {trace_id}: {spans.span_count} spans came ({spans.format})"
    if spans.next_close_at is not None:
        root = "the root is among them" if spans.has_root else "the root is not"
        text = f"{came}, {root}; evaluated after {_say(spans.next_close_at)} unless more come"
        return Line(f"waiting: {text}", "yellow")
    if spans.is_stored:
        return Line(f"{came}, taken as complete: {_CLOSINGS[spans.reason]}")
    return Line(f"{came}; not stored: none of them tells of retrieval or of a model", "yellow")


def _tell_revision(revision: RevisionHistory) -> Iterator[Line]:
    app = show_app(revision.key.app)
    place = "".join(
        f", {name}" for name in (revision.environment, revision.release, revision.variant) if name
    )
    record = f", record {revision.key.record_key}" if revision.key.record_key else ""
    yield Line(
        f"trace {revision.key.trace_id}{record}, app {app}{place}, revision {revision.revision}", "bold"
    )
    guessed = ""
    if revision.occurred_at_guessed:
        guessed = f" (guessed; the producer said {revision.claimed_occurred_at or 'nothing'})"
    yield Line(f"  occurred {_say(revision.occurred_at)}{guessed}, stored {_say(revision.admitted_at)}")
    if revision.trace is None:
        yield Line("  its texts have been dropped by retention")
    else:
        yield from _tell_texts(revision.trace)
    for evaluation in revision.evaluations:
        yield from _tell_evaluation(evaluation)


def _tell_texts(trace: Trace) -> Iterator[Line]:
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
    for warning in trace.extraction.warnings:
        yield Line(f"  warning: {warning}", "yellow")


def _tell_evaluation(evaluation: EvaluationHistory) -> Iterator[Line]:
    cause = f" ({evaluation.cause})" if evaluation.cause else ""
    meaning = _MEANINGS[evaluation.state]
    yield Line(f"  judge {evaluation.key.judge}@{evaluation.key.fingerprint[:6]}: {meaning}{cause}", "bold")
    yield Line(f"    sample rate {evaluation.sample_rate:g}, {_tell_runs(evaluation)}")
    if evaluation.assessment is not None:
        yield from _tell_assessment(evaluation)
    for outcome in evaluation.outcomes:
        yield _tell_outcome(outcome)


def _tell_runs(evaluation: EvaluationHistory) -> str:
    parts = [f"born {_say(evaluation.created_at)}"]
    if evaluation.starts:
        parts.append(f"started {evaluation.starts} times" if evaluation.starts > 1 else "started once")
    if evaluation.attempts:
        parts.append(f"{evaluation.attempts} failures of its own")
    if evaluation.next_attempt_at is not None:
        parts.append(f"due {_say(evaluation.next_attempt_at)}")
    if evaluation.lease_until is not None:
        parts.append(f"leased until {_say(evaluation.lease_until)}")
    if evaluation.finished_at is not None:
        parts.append(f"ended {_say(evaluation.finished_at)}")
    if evaluation.calls:
        cost = "cost unknown" if evaluation.cost_usd is None else f"{evaluation.cost_usd:.6f} USD"
        parts.append(
            f"{evaluation.calls} calls, {evaluation.tokens_in}+{evaluation.tokens_out} tokens, {cost}"
        )
    return ", ".join(parts)


def _tell_assessment(evaluation: EvaluationHistory) -> Iterator[Line]:
    assessment = evaluation.assessment
    if assessment is None:
        return
    for number, verdict in (assessment.contexts or {}).items():
        said = [
            word
            for word, is_said in (
                (f"level {verdict.level}", verdict.level is not None),
                ("relevant" if verdict.relevant else "not relevant", verdict.relevant is not None),
                (
                    "supports the reference" if verdict.supports else "no support",
                    verdict.supports is not None,
                ),
                ("used" if verdict.used else "not used", verdict.used is not None),
            )
            if is_said
        ]
        reason = f": {verdict.reason}" if verdict.reason else ""
        yield Line(f"    context {number}: {', '.join(said)}{reason}")
    if assessment.insufficient:
        yield Line("    the contexts do not suffice to answer")
    for aspect, fault in assessment.faults.items():
        yield Line(f"    {aspect}: {fault.cause}: {fault.message}", "yellow")


def _tell_outcome(outcome: Outcome) -> Line:
    if isinstance(outcome, Score):
        passed = "" if outcome.passed is None else ", passed" if outcome.passed else ", below its threshold"
        return Line(
            f"    {outcome.scorer} {outcome.value:g} ({outcome.band}{passed}): {outcome.reason}", "green"
        )
    return Line(f"    {outcome.scorer} {outcome.status} ({outcome.cause}): {outcome.reason}", "yellow")


def _tell_parked(message: ParkedMessage) -> Iterator[Line]:
    yield Line(f"parked message {message.id}: {message.reason}", "bold")
    yield Line(f"  {message.message}")
    yield Line(f"  {message.body_bytes} bytes from {message.queue}, received {_say(message.received_at)}")


def _say(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _shorten(text: str | None) -> str:
    if text is None:
        return "none"
    line = " ".join(text.split())
    return line if len(line) <= _TEXT_MAX_CHARACTERS else f"{line[:_TEXT_MAX_CHARACTERS]}…"
