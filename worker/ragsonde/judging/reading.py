"""What is made of one reply: verdicts, faults, and whether asking again may help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragsonde.judging.reply import UnreadableReplyError, find_gaps, normalise_reply, parse_reply
from ragsonde.scoring.rubric_verdicts import find_ratings_fault
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, Assessment, Fault
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde.judging.completion import Completion
    from ragsonde.judging.prompt import Prompt
    from ragsonde_schemas.trace import Trace

CUT_OFF = "the reply was cut off at the token limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One reply, read.

    Attributes:
        assessment: the aspects in good form, faults for the others.
        text: the reply, to be shown again where it is to be mended.
        model: the one that answered.
        is_mendable: a repair may help.
    """

    assessment: Assessment
    text: str = ""
    model: str | None = None
    is_mendable: bool = True

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Its faults, each once, in the order of the aspects."""
        return tuple(dict.fromkeys(self.assessment.faults.values()))

    @property
    def outcome(self) -> str:
        """`ok`, or the cause of the first fault."""
        return self.faults[0].cause if self.faults else "ok"


def read_completion(completion: Completion, *, prompt: Prompt, trace: Trace) -> Reading:
    """The reading of what a provider answered to a prompt about a trace."""
    text, model = completion.text, completion.model
    if completion.finish_reason == "length":
        return fail_reading(prompt, Cause.REPLY_TRUNCATED, CUT_OFF, text=text, model=model, is_mendable=False)
    if completion.finish_reason == "content_filter":
        message = "the provider's content filter stopped the reply"
        return fail_reading(prompt, Cause.CONTENT_REFUSED, message, text=text, model=model, is_mendable=False)
    if completion.refusal:
        return fail_reading(
            prompt, Cause.REFUSED, "the reply is a refusal", text=completion.refusal, model=model
        )
    if not text.strip():
        return fail_reading(prompt, Cause.EMPTY_REPLY, "the reply is empty", model=model)
    try:
        found = parse_reply(text)
    except UnreadableReplyError as error:
        return fail_reading(prompt, error.cause, str(error), text=text, model=model)
    return Reading(assessment=_assess(found, prompt=prompt, trace=trace), text=text, model=model)


def fail_reading(
    prompt: Prompt,
    cause: Cause,
    message: str,
    *,
    text: str = "",
    model: str | None = None,
    is_mendable: bool = True,
) -> Reading:
    """The reading of a reply that is of no use for any aspect."""
    fault = Fault(cause=cause, message=message)
    assessment = Assessment(faults=dict.fromkeys(sorted(prompt.aspects), fault))
    return Reading(assessment=assessment, text=text, model=model, is_mendable=is_mendable)


def _assess(found: dict[str, Any], *, prompt: Prompt, trace: Trace) -> Assessment:
    raw = normalise_reply(found, keys=prompt.keys, rubrics=prompt.rubrics)
    assessment = read_assessment(raw, trace, aspects=prompt.aspects)
    faults = find_gaps(found, aspects=prompt.aspects) | assessment.faults
    if assessment.rubrics is not None:
        fault = find_ratings_fault(prompt.rubrics, assessment.rubrics)
        faults |= {} if fault is None else {Aspect.RUBRICS: fault}
    return assessment.model_copy(update={"faults": faults})
