"""The LLM judge: one structured call a trace for all that its scorers need."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragsonde.judging.exchange import Exchange
from ragsonde.judging.fingerprint import compute_fingerprint
from ragsonde.judging.instructions import PROMPT_VERSION
from ragsonde.judging.litellm_provider import LitellmProvider
from ragsonde.judging.prompt import render_prompt
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.spending import WorstCase

if TYPE_CHECKING:
    from ragsonde.judging.completion import Provider
    from ragsonde.judging.options import JudgeOptions
    from ragsonde_schemas.assessment import Aspect
    from ragsonde_schemas.rubric import Rubric
    from ragsonde_schemas.trace import Trace


_EXTRA_CALLS = 2
"""Once more with room for a longer reply, and one repair."""


class LitellmJudge:
    """Asks an LLM, from any number of threads at once; litellm is imported by the first call.

    Args:
        options: kind `litellm`.
        rubrics: the questions that aspect `rubrics` stands for.
        provider: who calls the model; litellm where None.
    """

    is_free = False

    def __init__(
        self,
        options: JudgeOptions,
        *,
        rubrics: tuple[Rubric, ...] = (),
        provider: Provider | None = None,
    ) -> None:
        self.name = options.name
        self.fingerprint = compute_fingerprint(
            options.kind,
            model=options.model or "",
            prompt_version=PROMPT_VERSION,
            temperature=options.temperature,
        )
        self._options = options
        self._rubrics = rubrics
        self._provider = provider or LitellmProvider(options)

    def estimate(self, trace: Trace, aspects: frozenset[Aspect]) -> WorstCase:
        """The most that asking about this trace may take: every call, one longer reply and one repair."""
        prompt = render_prompt(trace, aspects, reasons=self._options.reasons, rubrics=self._rubrics)
        calls = self._options.max_calls + _EXTRA_CALLS
        characters = len(prompt.system) + len(prompt.user)
        tokens = calls * (characters + 2 * self._options.max_tokens)
        return WorstCase(calls=calls, tokens=tokens, cost_usd=None)

    def assess(
        self, trace: Trace, aspects: frozenset[Aspect], *, deadline: float | None = None
    ) -> Assessment:
        """Verdicts for `aspects`, from one call, or two where the first reply was unusable.

        `supports` is not asked where there is no reference.

        Args:
            trace: with at least one non-blank context and a question.
            aspects: what the app's configured scorers need.
            deadline: `time.monotonic()` value after which no call is begun; the judge's own holds too.

        Raises:
            JudgeUnavailableError: an outage, also in the repair: ask again later, for everything.
            JudgePausedError: somebody must act first.
        """
        own = time.monotonic() + self._options.deadline_seconds
        prompt = render_prompt(trace, aspects, reasons=self._options.reasons, rubrics=self._rubrics)
        if not prompt.aspects:
            return Assessment()
        exchange = Exchange(
            options=self._options,
            provider=self._provider,
            prompt=prompt,
            trace=trace,
            deadline=own if deadline is None else min(own, deadline),
        )
        return exchange.run()
