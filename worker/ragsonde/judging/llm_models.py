"""Builds an LLM judge: its own model and its fallbacks, each behind a circuit of its own."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from ragsonde.judging.circuit import Circuit
from ragsonde.judging.cover import cover_nothing
from ragsonde.judging.guarded_provider import GuardedProvider
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.litellm_provider import LitellmProvider
from ragsonde.judging.llm_chain import LlmChain
from ragsonde.judging.pauses import UnsharedStates
from ragsonde.judging.room import Room

if TYPE_CHECKING:
    from ragsonde.judging.completion import Provider
    from ragsonde.judging.cover import Cover
    from ragsonde.judging.model_options import FallbackOptions
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.judging.surroundings import Surroundings
    from ragsonde_schemas.rubric import Rubric

logger = logging.getLogger(__name__)


def build_llm_judge(
    options: JudgeOptions,
    surroundings: Surroundings | None,
    rubrics: tuple[Rubric, ...] = (),
    cover: Cover = cover_nothing,
) -> LlmChain:
    """The judge that the options describe.

    Args:
        options: kind `litellm`.
        surroundings: of a deployment. None outside of one: whoever asks has no other work, so he waits for
            room, tries a judge that is away himself, and is told at once of one that refuses.
        rubrics: what it may be asked to rate.
        cover: of the models' own words.
    """
    models = [options, *(_replace_model(options, fallback) for fallback in options.fallbacks)]
    return LlmChain(
        [
            LitellmJudge(one, provider=_build_provider(one, surroundings), rubrics=rubrics, cover=cover)
            for one in models
        ],
        states=UnsharedStates() if surroundings is None else surroundings.states,
        room=Room(
            options.name,
            size=options.max_concurrency,
            patience_seconds=None if surroundings is None else surroundings.patience_seconds,
        ),
        deadline_seconds=options.deadline_seconds,
    )


def _replace_model(options: JudgeOptions, fallback: FallbackOptions) -> JudgeOptions:
    """The judge's options with all that belongs to a model from its fallback."""
    return options.model_copy(update={**dict(fallback), "fallbacks": ()})


def _build_provider(options: JudgeOptions, surroundings: Surroundings | None) -> Provider:
    provider = LitellmProvider(options)
    if surroundings is None:
        return provider
    judge, model, tell = options.name, options.model or "", surroundings.on_circuit

    def on_change(is_open: bool) -> None:  # noqa: FBT001 - as a circuit calls it
        event = "judge_circuit_opened" if is_open else "judge_circuit_closed"
        logger.log(
            logging.WARNING if is_open else logging.INFO, event, extra={"judge": judge, "model": model}
        )
        tell(judge, model, is_open)

    circuit = Circuit(options.circuit, monotonic=time.monotonic, on_change=on_change)
    return GuardedProvider(provider, judge=judge, circuit=circuit)
