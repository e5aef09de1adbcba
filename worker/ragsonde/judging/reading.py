"""What is made of one reply: verdicts, faults, and whether asking again may help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragsonde.judging.cover import cover_long, cover_nothing
from ragsonde.judging.reply import UnreadableReplyError, find_gaps, normalise_reply, parse_reply
from ragsonde.scoring.rubric_verdicts import find_ratings_fault
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, Assessment, Fault
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from ragsonde.judging.completion import Completion
    from ragsonde.judging.cover import Cover
    from ragsonde.judging.prompt import Prompt
    from ragsonde_schemas.trace import Trace

CUT_OFF = "the reply was cut off at the token limit"
_BOTH_WAYS = Fault(
    cause=Cause.VERDICT_MISMATCH,
    message="ins is true, so that the contexts do not suffice, and need names sentences that do",
)
_FINAL = frozenset({Cause.REPLY_TRUNCATED, Cause.CONTENT_REFUSED})
"""Asking again would end in the same way."""


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


def read_completion(
    completion: Completion, *, prompt: Prompt, trace: Trace, cover: Cover = cover_nothing
) -> Reading:
    """The reading of what a provider answered to a prompt about a trace; covered before anything is cut."""
    text, model = completion.refusal or completion.text, completion.model
    oddity = _find_oddity(completion)
    if oddity is not None:
        cause, message = oddity
        is_mendable = cause not in _FINAL
        return fail_reading(prompt, cause, message, text=text, model=model, is_mendable=is_mendable)
    try:
        found = parse_reply(text)
    except UnreadableReplyError as error:
        return fail_reading(prompt, error.cause, str(error), text=text, model=model)
    assessment = _assess(cover_long(found, cover), prompt=prompt, trace=trace)
    return Reading(assessment=assessment, text=text, model=model)


def _find_oddity(completion: Completion) -> tuple[Cause, str] | None:
    """What makes a completion no reply, without a look into its words; None where nothing does."""
    if completion.finish_reason == "length":
        return Cause.REPLY_TRUNCATED, CUT_OFF
    if completion.finish_reason == "content_filter":
        return Cause.CONTENT_REFUSED, "the provider's content filter stopped the reply"
    if completion.refusal:
        return Cause.REFUSED, "the reply is a refusal"
    if not completion.text.strip():
        return _explain_empty(completion)
    if completion.choices > 1:
        return Cause.INVALID_REPLY, f"there are {completion.choices} different replies, not one"
    return None


def _explain_empty(completion: Completion) -> tuple[Cause, str]:
    if completion.has_tool_call:
        return (
            Cause.INVALID_REPLY,
            "the reply calls a tool: no tool was offered, the JSON object is asked for",
        )
    if completion.has_reasoning:
        return Cause.EMPTY_REPLY, (
            "the reply holds reasoning and no words: write the JSON object itself "
            "(where this recurs, raise the judge's `max_tokens` or lower the model's reasoning effort)"
        )
    return Cause.EMPTY_REPLY, "the reply is empty"


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
    if assessment.insufficient and assessment.essential:
        faults.setdefault(Aspect.ESSENTIAL, _BOTH_WAYS)
    if assessment.rubrics is not None:
        fault = find_ratings_fault(prompt.rubrics, assessment.rubrics)
        faults |= {} if fault is None else {Aspect.RUBRICS: fault}
    return assessment.model_copy(update={"faults": faults})
