"""A trace judged over as many calls as its contexts take: mostly one.

Where the provider says that a prompt is too long for its model, half of that part's contexts is asked once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.judging.assessment_merging import merge_assessments
from ragsonde.judging.cover import cover_nothing
from ragsonde.judging.exchange import ASSESS, TRIM, Exchange
from ragsonde.judging.long_texts import shorten_texts
from ragsonde.judging.token_budget import halve_contexts, plan_parts
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.judging.completion import Provider
    from ragsonde.judging.cover import Cover
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.judging.prompt import Prompt
    from ragsonde.judging.token_budget import CountTokens
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.trace import Trace

_SHARE_OF_A_TEXT = 3
"""Question, answer, reference and each turn may take this part of the tokens that contexts may take."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is asked about a trace.

    Attributes:
        parts: the trace as each call shows it.
        shortened: names of the texts beside the contexts that were cut in the middle.
    """

    parts: tuple[Trace, ...]
    shortened: tuple[str, ...] = ()


def plan_calls(trace: Trace, options: JudgeOptions, *, count: CountTokens) -> Plan:
    """How a trace is divided over calls."""
    most = options.max_context_tokens
    shown, shortened = shorten_texts(trace, max_tokens=most // _SHARE_OF_A_TEXT, count=count)
    parts = plan_parts(shown, max_tokens=most, max_calls=options.max_calls, count=count)
    return Plan(parts=parts, shortened=shortened)


@dataclass(kw_only=True)
class PartedExchange:
    """The conversation about one trace, all calls; used once.

    Attributes:
        render: the prompt of a part.
        deadline: `time.monotonic()` value after which no call is begun.
        cover: of the provider's own words.
    """

    options: JudgeOptions
    provider: Provider
    render: Callable[[Trace], Prompt]
    count: CountTokens
    deadline: float
    cover: Cover = cover_nothing

    def run(self, trace: Trace) -> Assessment:
        """The verdicts of all calls as one; after a call without any of use no other is made.

        Raises:
            JudgeUnavailableError, JudgePausedError: an outage in any call; of the answers only the calls are
                kept.
        """
        plan = plan_calls(trace, self.options, count=self.count)
        answered: list[Assessment] = []
        shown: list[Trace] = []
        for part in plan.parts:
            prompt = self.render(part)
            if not prompt.aspects:
                return Assessment()
            try:
                assessment, seen = self._ask(part, prompt)
            except (JudgeUnavailableError, JudgePausedError) as outage:
                outage.calls = (*_list_calls(answered), *outage.calls)
                raise
            answered.append(assessment)
            shown.append(seen)
            if prompt.aspects <= assessment.faults.keys():
                break
        merged = merge_assessments(answered)
        return merged.model_copy(update=_describe(trace, plan, shown))

    def _ask(self, part: Trace, prompt: Prompt) -> tuple[Assessment, Trace]:
        """The verdicts about a part, and the part as the model saw it at last."""
        first = self._exchange(part, prompt, purpose=ASSESS)
        is_too_long = [call.outcome for call in first.calls] == [Cause.CONTEXT_WINDOW_EXCEEDED]
        half = halve_contexts(part, count=self.count) if is_too_long else None
        if half is None:
            return first, part
        try:
            second = self._exchange(half, self.render(half), purpose=TRIM)
        except (JudgeUnavailableError, JudgePausedError) as outage:
            outage.calls = (*first.calls, *outage.calls)
            raise
        return second.model_copy(update={"calls": (*first.calls, *second.calls)}), half

    def _exchange(self, part: Trace, prompt: Prompt, *, purpose: str) -> Assessment:
        return Exchange(
            options=self.options,
            provider=self.provider,
            prompt=prompt,
            trace=part,
            deadline=self.deadline,
            cover=self.cover,
            purpose=purpose,
        ).run()


def _list_calls(assessments: list[Assessment]) -> tuple[JudgeCall, ...]:
    return tuple(call for assessment in assessments for call in assessment.calls)


def _describe(trace: Trace, plan: Plan, shown: list[Trace]) -> dict[str, object]:
    """What is to be said of an assessment that did not see everything in one call; {} for all others."""
    told: dict[str, object] = {}
    notes: dict[str, object] = {}
    if len(plan.parts) > 1:
        notes["parts"] = len(plan.parts)
    if plan.shortened:
        notes["shortened"] = list(plan.shortened)
        told["truncated"] = True
    sentences = {sentence.number: sentence for part in shown for sentence in part.sentences}
    is_whole = len(shown) == len(plan.parts)
    if is_whole and tuple(sentences.get(sentence.number) for sentence in trace.sentences) != trace.sentences:
        told["truncated"] = True
        told["sentences_shown"] = tuple(s.number for s in trace.sentences if s.number in sentences)
    if notes:
        told["notes"] = notes
    return told
