"""The LLM judge: one structured call a trace for all that its scorers need."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragsonde.judging.cover import cover_nothing
from ragsonde.judging.fingerprint import compute_fingerprint
from ragsonde.judging.instructions import PROMPT_VERSION
from ragsonde.judging.litellm_provider import LitellmProvider
from ragsonde.judging.litellm_tokens import LitellmTokens
from ragsonde.judging.model_prices import find_prices
from ragsonde.judging.parted_exchange import PartedExchange, plan_calls
from ragsonde.judging.prompt import render_prompt
from ragsonde.judging.worst_case import estimate_worst

if TYPE_CHECKING:
    from ragsonde.judging.completion import Provider
    from ragsonde.judging.cover import Cover
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.judging.prompt import Prompt
    from ragsonde_schemas.assessment import Aspect, Assessment
    from ragsonde_schemas.rubric import Rubric
    from ragsonde_schemas.spending import WorstCase
    from ragsonde_schemas.trace import Trace


class LitellmJudge:
    """Asks an LLM, from any number of threads at once; litellm is imported by the first call.

    Args:
        options: kind `litellm`.
        rubrics: the questions that aspect `rubrics` stands for.
        provider: who calls the model; litellm where None.
        cover: of the model's own words, before they are sent again or cut.
    """

    is_free = False

    def __init__(
        self,
        options: JudgeOptions,
        *,
        rubrics: tuple[Rubric, ...] = (),
        provider: Provider | None = None,
        cover: Cover = cover_nothing,
    ) -> None:
        self._cover = cover
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
        self._count = LitellmTokens(options.model or "")

    def estimate(self, trace: Trace, aspects: frozenset[Aspect]) -> WorstCase:
        """The most that asking about this trace is expected to take: see `worst_case`."""
        prices = find_prices(self._options.model or "", configured=self._options.prices)
        parts = plan_calls(trace, self._options, count=self._count).parts
        return estimate_worst(
            [(part, self._render(part, aspects)) for part in parts],
            max_tokens=self._options.max_tokens,
            prices=prices,
            count=self._count,
        )

    def assess(
        self, trace: Trace, aspects: frozenset[Aspect], *, deadline: float | None = None
    ) -> Assessment:
        """Verdicts for `aspects`, from one call, or two where the first reply was unusable.

        Contexts that are too long for one call are asked about in parts; what was not shown at all is left
        out of `sentences_shown`, and `notes` tell the number of parts.

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
        exchange = PartedExchange(
            options=self._options,
            provider=self._provider,
            render=lambda part: self._render(part, aspects),
            count=self._count,
            deadline=own if deadline is None else min(own, deadline),
            cover=self._cover,
        )
        return exchange.run(trace)

    def _render(self, part: Trace, aspects: frozenset[Aspect]) -> Prompt:
        return render_prompt(part, aspects, reasons=self._options.reasons, rubrics=self._rubrics)
