"""What an LLM judge adds to the bare call of its model, against a provider of its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import Figure, time_call

from fakes.judged_traces import make_trace
from ragsonde.judging.litellm_judge import LitellmJudge
from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.litellm_tokens import LitellmTokens
from ragsonde.judging.options import JudgeOptions, Reasons
from ragsonde.judging.prompt import render_prompt
from ragsonde_schemas.assessment import Aspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde_schemas.trace import Trace

TESTS = Path(__file__).parents[1]
MODEL = "openai/gpt-4o-mini"
ASPECTS = frozenset(
    {
        Aspect.RELEVANT,
        Aspect.LEVEL,
        Aspect.USED,
        Aspect.MISSING,
        Aspect.ESSENTIAL,
        Aspect.RELEVANT_SENTENCES,
    }
)
"""What the five scorers need of a trace without a reference."""
TOKENS_A_CONTEXT = 180
THREADS = 32
LATENCY_SECONDS = 0.2
TRACES = 32 * THREADS


def measure_llm_judge() -> list[Figure]:
    """Input tokens, CPU beside the bare call, and the rate of one process with many threads."""
    trace = build_trace()
    prompt = render_prompt(trace, ASPECTS, reasons=Reasons.TRACE)
    count = load_litellm().module.token_counter
    tokens = count(model=MODEL, messages=prompt.messages)
    with a_provider() as url:
        judge = build_judge(url)
        bare_ms = time_call(lambda: call_bare(prompt.messages, url))
        judged_ms = time_call(lambda: judge.assess(trace, ASPECTS))
    with a_provider(latency_seconds=LATENCY_SECONDS) as url:
        rate = measure_rate(build_judge(url), trace)
    ratio = judged_ms / bare_ms
    most = min(THREADS / LATENCY_SECONDS, 1000 / judged_ms)
    share = rate / most
    return [
        Figure("LLM judge, 5 contexts of 180 tokens", f"{tokens} tokens in", "<= 1,700", tokens <= 1700),
        Figure(
            "LLM judge, a trace",
            f"{judged_ms:.1f} ms CPU ({ratio:.2f} x a bare litellm call)",
            "<= 1.5 x",
            ratio <= 1.5,
        ),
        Figure(
            f"its rate without a worker around it, {THREADS} threads, {LATENCY_SECONDS:g} s a call",
            f"{rate:.0f}/s = {share:.0%} of {most:.0f}/s",
            "none: the path's is below",
            True,
        ),
    ]


def build_trace() -> Trace:
    """Five contexts of 180 tokens each."""
    count = LitellmTokens(MODEL)
    contexts = []
    for number in range(5):
        text = ""
        while count(text) < TOKENS_A_CONTEXT:
            text += (
                f"Setting {number}{len(text)} of the heating controller changes how long the pump runs "
                "after the boiler has stopped. "
            )
        contexts.append(text)
    return make_trace(*contexts, answer="It is the second one, and it is set in the menu. " * 2)


def build_judge(url: str) -> LitellmJudge:
    """A judge at the provider."""
    return LitellmJudge(
        JudgeOptions(name="gpt", kind="litellm", model=MODEL, api_base=url, api_key="sk-bench")
    )


def call_bare(messages: list[dict[str, str]], url: str) -> Any:  # noqa: ANN401 - litellm's response
    """The same messages through litellm alone."""
    return load_litellm().module.completion(
        model=MODEL, messages=messages, api_base=url, api_key="sk-bench", max_retries=0, temperature=0.0
    )


def measure_rate(judge: LitellmJudge, trace: Trace) -> float:
    """Traces a second from first to last."""
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda _: judge.assess(trace, ASPECTS), range(THREADS)))
        begun = time.monotonic()
        list(pool.map(lambda _: judge.assess(trace, ASPECTS), range(TRACES)))
        return TRACES / (time.monotonic() - begun)


@contextmanager
def a_provider(*, latency_seconds: float = 0.0) -> Iterator[str]:
    """The url of a mock provider in a process of its own."""
    command = [sys.executable, "-m", "mock_llm.server", "--latency", str(latency_seconds)]
    paths = [str(TESTS), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as server:
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()
