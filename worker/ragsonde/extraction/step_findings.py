"""The fields of a record from its steps, whatever format they came in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conversation import find_conversation
from ragsonde.extraction.documents import read_score
from ragsonde.extraction.findings import Findings, Found
from ragsonde.extraction.options import RetrievalOptions
from ragsonde.extraction.retrievals import choose_contexts
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind, has_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from ragsonde.extraction.retrievals import ChosenContexts
    from ragsonde.extraction.steps import Step

DEFAULT_OPTIONS = RetrievalOptions()
_NAMES = ("session_id", "user_id", "app", "environment", "release", "variant")
_VALUES = ("reference", "tags", "metadata", "sampling_probability")
_NO_MODEL = frozenset({"", "unknown"})


def find_in_steps(
    steps: Sequence[Step],
    *,
    format_name: str,
    trace_id: str,
    record_key: str = "",
    claimed_at: datetime | str | None = None,
    latency_ms: float | None = None,
    options: RetrievalOptions = DEFAULT_OPTIONS,
    warnings: tuple[str, ...] = (),
) -> tuple[Findings, ...]:
    """The fields of one record; several with `per_step`, one for each retrieval.

    Args:
        steps: of the record, any order.
        format_name: the format it came in.
        trace_id: of the record's trace.
        record_key: which record of its trace it is; with `per_step` the retrieval's id follows it.
        claimed_at: the producer's time, as in `Findings`.
        latency_ms: of the whole record.
        options: which of several retrievals are judged.
        warnings: what is known of the record already; told first.
    """
    tree = StepTree(steps)
    turn = tree.turn
    conversation = find_conversation(turn)
    found = {
        "query": conversation.query,
        "answer": conversation.answer,
        "model": _find_model(tree),
        **{name: _find_fact(tree, name) for name in (*_NAMES, *_VALUES)},
    }
    common = Findings(
        format=format_name,
        trace_id=trace_id,
        record_key=record_key,
        claimed_at=claimed_at,
        turns=conversation.turns,
        usage=_sum_usage(tree),
        latency_ms=latency_ms,
        cost_usd=_sum_cost(tree),
        evidence={name: field.evidence for name, field in found.items() if field.evidence is not None},
        warnings=(*warnings, *_warn_of_others(turn)),
        **{name: field.value for name, field in found.items() if field.value is not None},
    )
    return tuple(_complete(common, chosen) for chosen in choose_contexts(turn, options=options))


def _warn_of_others(turn: StepTree) -> tuple[str, ...]:
    if not turn.others:
        return ()
    count = len(turn.others) + 1
    warning = (
        f"trace: {count} runs stand beside each other; query, contexts and answer are those of one of them."
        " Give each a trace of its own, or let one span of the application stand around them"
    )
    return (warning,)


def _complete(common: Findings, chosen: ChosenContexts) -> Findings:
    """One record: what is common to all of the trace, and the contexts chosen for it."""
    key = common.record_key
    if chosen.step_id:
        key = f"{key}/{chosen.step_id}" if key else chosen.step_id
    asked = chosen.question
    is_own = has_text(asked) and asked.value.strip() != (common.query or "").strip()
    retrieval_query = asked if is_own else Found()
    own = {"contexts": chosen.evidence, "retrieval_query": retrieval_query.evidence}
    return replace(
        common,
        record_key=key,
        retrieval_query=retrieval_query.value,
        contexts=chosen.contexts,
        evidence={**common.evidence, **{name: rule for name, rule in own.items() if rule is not None}},
        warnings=(*common.warnings, *chosen.warnings),
    )


def _walk(tree: StepTree) -> Iterator[Step]:
    """The entry, then all steps in order of time."""
    if tree.entry is not None:
        yield tree.entry
    yield from tree.steps


def _find_fact(tree: StepTree, name: str) -> Found:
    """A fact of the entry, else of any step; one that is derived only where no step says it plainly."""
    derived = Found()
    for step in _walk(tree):
        fact = step.facts.get(name)
        if fact is None or fact.value is None:
            continue
        if fact.evidence is None or fact.evidence.confidence == "exact":
            return fact
        derived = derived if derived.value is not None else fact
    return derived


def _find_model(tree: StepTree) -> Found:
    """The model of the last generation, else of the last step that names one."""
    generations = [step for step in tree.steps if step.kind is StepKind.GENERATION]
    for step in (*reversed(generations), *reversed(tree.steps)):
        fact = step.facts.get("model")
        if fact is not None and isinstance(fact.value, str) and fact.value.strip().lower() not in _NO_MODEL:
            return fact
    return Found()


def _sum_usage(tree: StepTree) -> dict[str, Any]:
    """Tokens by name, each summed over the outermost steps that count it."""
    carriers = [step for step in tree.steps if isinstance(_read_usage(step), dict)]
    names = dict.fromkeys(name for step in carriers for name in _read_usage(step))
    usage: dict[str, Any] = {}
    for name in names:
        outermost = tree.outermost(step for step in carriers if name in _read_usage(step))
        counts = [count for step in outermost if (count := read_score(_read_usage(step)[name])) is not None]
        total = read_score(sum(counts))
        if counts and total is not None:
            usage[name] = int(total)
    return usage


def _read_usage(step: Step) -> dict[str, Any]:
    fact = step.facts.get("usage")
    return fact.value if fact is not None and isinstance(fact.value, dict) else {}


def _sum_cost(tree: StepTree) -> float | None:
    outermost = tree.find_outermost_carriers("cost_usd")
    costs = [read_score(step.facts["cost_usd"].value) for step in outermost]
    known = [cost for cost in costs if cost is not None and cost >= 0]
    return read_score(sum(known)) if known else None
