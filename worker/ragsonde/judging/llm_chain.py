"""An LLM judge with its fallbacks: the first model that answers, each with a state of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragsonde.judging.pauses import UnsharedStates
from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError
from ragsonde_schemas.spending import WorstCase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.judging.pauses import JudgeStates
    from ragsonde.judging.room import Room
    from ragsonde.ports import PaidJudge
    from ragsonde_schemas.assessment import Aspect, Assessment
    from ragsonde_schemas.trace import Trace

    Outage = JudgeUnavailableError | JudgePausedError


class LlmChain:
    """Asks its models in turn until one answers; who is paused is passed by.

    The answers of a fallback are a stream of their own: they carry the fallback's fingerprint. A fallback
    that is the same model at another address has the same fingerprint, and so the same stream; it is not
    paused with it.

    Args:
        models: the judge's own model first; all under one name, each with its own fingerprint.
        states: shared by all workers.
        room: for how many traces at once.
        deadline_seconds: for one trace, all models together.
    """

    is_free = False

    def __init__(
        self, models: Sequence[PaidJudge], *, states: JudgeStates, room: Room, deadline_seconds: float
    ) -> None:
        self._models = tuple(models)
        self._states = states
        prints = [model.fingerprint for model in models]
        self._pauses = tuple(
            UnsharedStates() if one in prints[:place] else states for place, one in enumerate(prints)
        )
        self._room = room
        self._deadline_seconds = deadline_seconds
        self.name = self._models[0].name
        self.fingerprint = self._models[0].fingerprint
        self.fallback_fingerprints = tuple(dict.fromkeys(one for one in prints if one != self.fingerprint))

    def estimate(self, trace: Trace, aspects: frozenset[Aspect]) -> WorstCase:
        """The most that asking about this trace is expected to take.

        Calls are those of all models. What is not answered is mostly not paid either, so tokens and money are
        those of the dearest.
        """
        worst = [model.estimate(trace, aspects) for model in self._models]
        costs = [one.cost_usd for one in worst]
        return WorstCase(
            calls=sum(one.calls for one in worst),
            tokens=max(one.tokens for one in worst),
            cost_usd=None if None in costs else max(cost for cost in costs if cost is not None),
        )

    def assess(
        self, trace: Trace, aspects: frozenset[Aspect], *, deadline: float | None = None
    ) -> Assessment:
        """Verdicts for `aspects` from the first model that can give them.

        Raises:
            JudgeUnavailableError, JudgePausedError: no model can answer now; what the one said that may be
                asked again first, with the calls of all.
        """
        own = time.monotonic() + self._deadline_seconds
        deadline = own if deadline is None else min(own, deadline)
        outages: list[Outage] = []
        with self._room.hold(deadline=deadline):
            for model, pauses in zip(self._models, self._pauses, strict=True):
                if outages and time.monotonic() >= deadline:
                    break
                try:
                    assessment = _ask(model, pauses, trace, aspects, deadline=deadline)
                except (JudgeUnavailableError, JudgePausedError) as outage:
                    outages.append(outage)
                else:
                    return self._sign(assessment, model, outages)
        soonest = min(outages, key=_rank)
        soonest.calls = tuple(call for outage in outages for call in outage.calls)
        raise soonest

    def _sign(self, assessment: Assessment, model: PaidJudge, outages: Sequence[Outage]) -> Assessment:
        """The assessment as the answer of this model, with the calls that others left unanswered."""
        return assessment.model_copy(
            update={
                "calls": (*(call for outage in outages for call in outage.calls), *assessment.calls),
                "answered_fingerprint": None if model.fingerprint == self.fingerprint else model.fingerprint,
                "judge_epoch": self._states.find(model.name, model.fingerprint).epoch,
            }
        )


def _ask(
    model: PaidJudge, pauses: JudgeStates, trace: Trace, aspects: frozenset[Aspect], *, deadline: float
) -> Assessment:
    """What the model says, unless it is paused and somebody else probes it."""
    state = pauses.find(model.name, model.fingerprint)
    if state.paused_until is not None and not pauses.take_probe(model.name, model.fingerprint):
        raise JudgePausedError(model.name, f"paused: {state.pause_message}")
    try:
        assessment = model.assess(trace, aspects, deadline=deadline)
    except JudgePausedError as refusal:
        pauses.pause(model.name, model.fingerprint, message=refusal.told)
        raise
    if state.paused_until is not None and assessment.calls:
        pauses.resume(model.name, model.fingerprint)
    return assessment


def _rank(outage: Outage) -> tuple[bool, float]:
    """Sorts by when the model may be asked again; of equals the first stays first."""
    if isinstance(outage, JudgePausedError):
        return True, 0.0
    return False, outage.retry_after_seconds or 0.0
