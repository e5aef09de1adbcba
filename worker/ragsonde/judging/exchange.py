"""The conversation with an LLM about one trace: one question, at most one repair, never an invented verdict.

    assess --good--> done
       |---cut off at the token limit--> length (once, with twice the room)
       |---unusable for some aspect----> repair (once, names the faults and nothing else)

An outage in any call, the repair too, is raised: the whole exchange is tried again later. What was answered
before it could be kept, but then the outage would decide which aspects get no number. The calls themselves,
which may have been paid, are told with the outage.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragsonde.judging.call_log import CallLog
from ragsonde.judging.completion import (
    CallFaultError,
    CallNotMadeError,
    Completion,
    NotAskedError,
    Provider,
)
from ragsonde.judging.cover import cover_nothing
from ragsonde.judging.instructions import KEYS_OF, build_schema
from ragsonde.judging.reading import CUT_OFF, Reading, fail_reading, read_completion
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError

if TYPE_CHECKING:
    from ragsonde.judging.cover import Cover
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.judging.prompt import Message, Prompt
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

LONGEST_SHOWN_REPLY = 4_000
"""Characters of a bad reply that are shown again to the model that is to mend it."""
LONGEST_FAULT = 600
MOST_HALVINGS = 10

_OF_THE_WHOLE = frozenset({Cause.INVALID_REPLY, Cause.EMPTY_REPLY, Cause.REFUSED})
ASSESS, TRIM = "assess", "trim"
"""The first call, and the first about half of the contexts where the prompt was too long for the model."""

_LENGTH, _REPAIR = "length", "repair"
_NO_ROOM = frozenset({Cause.JUDGE_REJECTED_REQUEST, Cause.CONTEXT_WINDOW_EXCEEDED})


@dataclass(kw_only=True)
class Exchange:
    """One conversation; used once.

    Attributes:
        deadline: `time.monotonic()` value after which no call is begun.
        cover: of the provider's own words, before it is shown them again and before any of them are cut.
        purpose: of the first call; after a prompt that was too long, no longer reply is asked for either.
    """

    options: JudgeOptions
    provider: Provider
    prompt: Prompt
    trace: Trace
    deadline: float
    cover: Cover = cover_nothing
    purpose: str = ASSESS
    _log: CallLog = field(init=False)
    _max_tokens: int = field(init=False)
    _has_doubled: bool = field(init=False)

    def __post_init__(self) -> None:
        self._log = CallLog(model=self.options.model or "", cover=self.cover)
        self._max_tokens = self.options.max_tokens
        self._has_doubled = self.purpose == TRIM

    def run(self) -> Assessment:
        """All verdicts that were given in good form; faults for the rest.

        Raises:
            JudgeUnavailableError: an outage, in whichever call; of the answers only the calls are kept.
            JudgePausedError: somebody must act first; likewise.
        """
        try:
            best = self._ask(self.purpose, self.prompt.messages)
            if best.faults and best.is_mendable and self._has_time():
                best = self._mend(best)
        except (JudgeUnavailableError, JudgePausedError) as outage:
            outage.calls = self._log.calls
            raise
        return best.assessment.model_copy(update={"calls": self._log.calls, "answered_model": best.model})

    def _mend(self, first: Reading) -> Reading:
        """The better of two readings, the later where they are equally good; never a mixture of both."""
        try:
            second = self._ask(_REPAIR, [*self.prompt.messages, *_write_repair(first, cover=self.cover)])
        except JudgeUnavailableError:
            if self._has_time():
                raise
            return first
        return second if _count_faulty(second) <= _count_faulty(first) else first

    def _ask(self, purpose: str, messages: list[Message]) -> Reading:
        if not self._has_time():
            message = "the time for this trace was over before it could be judged"
            return fail_reading(self.prompt, Cause.DEADLINE_EXCEEDED, message, is_mendable=False)
        begun = time.monotonic()
        try:
            completion = self._call(messages)
            if completion.finish_reason == "length" and not self._has_doubled:
                self._log.add_completion(purpose, completion, outcome=Cause.REPLY_TRUNCATED)
                purpose, begun = _LENGTH, time.monotonic()
                completion = self._call_with_room(messages)
        except CallFaultError as fault:
            self._log.add_failure(purpose, fault)
            return fail_reading(self.prompt, fault.cause, str(fault), is_mendable=False)
        except (JudgeUnavailableError, JudgePausedError) as outage:
            if not isinstance(outage, NotAskedError | CallNotMadeError):
                self._log.add_outage(purpose, outage, seconds=time.monotonic() - begun)
            raise
        reading = read_completion(completion, prompt=self.prompt, trace=self.trace, cover=self.cover)
        self._log.add_completion(purpose, completion, outcome=reading.outcome)
        return reading

    def _call(self, messages: list[Message]) -> Completion:
        return self.provider.complete(
            messages,
            schema=build_schema(self.prompt.keys),
            max_tokens=self._max_tokens,
            timeout_seconds=choose_timeout(
                self.options.timeout_seconds, remaining_seconds=self.deadline - time.monotonic()
            ),
        )

    def _call_with_room(self, messages: list[Message]) -> Completion:
        """The answer to the same question with twice the room; a model that refuses so much has no more."""
        self._has_doubled = True
        self._max_tokens *= 2
        try:
            return self._call(messages)
        except CallFaultError as fault:
            if fault.cause not in _NO_ROOM:
                raise
            message = f"{CUT_OFF}, and the model refuses max_tokens {self._max_tokens}"
            raise CallFaultError(
                Cause.REPLY_TRUNCATED, message, evidence=fault.evidence, seconds=fault.seconds
            ) from None

    def _has_time(self) -> bool:
        return time.monotonic() < self.deadline


def choose_timeout(timeout_seconds: float, *, remaining_seconds: float) -> float:
    """The timeout of a call: as configured, or halved until it fits into the time that remains.

    Halves, not the remaining time itself: litellm keeps a client, with its connections, for each value.
    """
    halvings = 0
    while timeout_seconds > remaining_seconds and halvings < MOST_HALVINGS:
        timeout_seconds /= 2
        halvings += 1
    return timeout_seconds


def _write_repair(bad: Reading, *, cover: Cover) -> list[Message]:
    """The bad reply and what is wrong with it; an empty one is left out, providers refuse it."""
    text, faults = cover((bad.text, "; ".join(_name_faults(bad))))
    repair = {
        "role": "user",
        "content": f"Your reply cannot be used: {faults[:LONGEST_FAULT]}. "
        "Reply again with the whole JSON object in the form described and nothing else.",
    }
    shown = text[:LONGEST_SHOWN_REPLY]
    return [{"role": "assistant", "content": shown}, repair] if shown.strip() else [repair]


def _name_faults(bad: Reading) -> list[str]:
    """Each fault once, with the keys it is about, unless it is about the whole reply."""
    named = []
    for fault in bad.faults:
        aspects = [aspect for aspect in KEYS_OF if bad.assessment.faults.get(aspect) == fault]
        keys = ", ".join(key for aspect in aspects for key in KEYS_OF[aspect])
        is_whole = len(aspects) == len(bad.assessment.faults) and fault.cause in _OF_THE_WHOLE
        named.append(fault.message if is_whole else f"{keys}: {fault.message}")
    return named


def _count_faulty(reading: Reading) -> int:
    return len(reading.assessment.faults)
