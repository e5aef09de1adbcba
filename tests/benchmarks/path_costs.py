"""What the whole path of a trace with an LLM judge costs, from the queue to its committed row.

A real worker process on a real broker and database; the provider is a process of its own. Everything is
published before the worker starts, so that no publisher shares the cores with it. Each trace is unique: no
verdicts are found in the cache. The bare call beside it is what somebody would write who had nothing but
litellm: the same messages, the same schema, the same limits, as many threads.
"""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from deployed import a_deployment, read_cpu, read_machine_cpu, read_rss
from figures import Figure
from judge_costs import ASPECTS, LATENCY_SECONDS, MODEL, THREADS, a_provider, build_trace

from ragsonde.judging.instructions import build_schema
from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.litellm_provider import SCHEMA_NAME
from ragsonde.judging.options import DEFAULT_MAX_TOKENS, Reasons
from ragsonde.judging.prompt import render_prompt
from services.waiting import wait_for

if TYPE_CHECKING:
    from ragsonde_schemas.trace import Trace

TRACES = 1500
WARM_UP = 300
TIMEOUT_SECONDS = 60.0
MOST_RATIO = 1.5
LEAST_SHARE = 0.85
_SCORED = "SELECT count(*) FROM evaluation WHERE state = 'scored'"


class PathCost(NamedTuple):
    """What a worker took for a trace.

    Attributes:
        cpu_seconds: of the worker process, a trace.
        machine_seconds: of all processes of the machine together, a trace.
        rate: traces a second.
        megabytes: of memory, at the end.
    """

    cpu_seconds: float
    machine_seconds: float
    rate: float
    megabytes: float


def measure_path() -> list[Figure]:
    """CPU of the whole path beside the bare call of the same run, memory, and the rate at a slow provider."""
    trace = build_trace()
    with a_provider() as url:
        before = measure_bare(trace, url)
        path = measure_worker(trace, url)
        bare = (before + measure_bare(trace, url)) / 2
    with a_provider(latency_seconds=LATENCY_SECONDS) as url:
        slow = measure_worker(trace, url)
    ratio = path.cpu_seconds / bare
    most = min(THREADS / LATENCY_SECONDS, 1 / slow.cpu_seconds)
    share = slow.rate / most
    machine = (os.cpu_count() or 1) / slow.machine_seconds
    return [
        Figure(
            "LLM judge, queue to committed row",
            f"{path.cpu_seconds * 1000:.1f} ms CPU a trace ({ratio:.2f} x a bare litellm call,"
            f" {bare * 1000:.1f} ms)",
            f"<= {MOST_RATIO} x",
            ratio <= MOST_RATIO,
        ),
        Figure(
            "worker's memory, LLM judge", f"{path.megabytes:.0f} MB RSS", "<= 350 MB", path.megabytes <= 350
        ),
        Figure(
            f"the path's rate, {THREADS} threads, {LATENCY_SECONDS:g} s a call",
            f"{slow.rate:.0f}/s = {share:.0%} of {most:.0f}/s (by all processes' CPU {machine:.0f}/s is the"
            " most here)",
            ">= 85 %",
            share >= LEAST_SHARE,
        ),
    ]


def measure_worker(trace: Trace, url: str, **options: Any) -> PathCost:  # noqa: ANN401 - any option of a judge
    """What a worker process with one judge, at this provider, takes for a trace of a backlog."""
    judge = {
        "name": "gpt",
        "kind": "litellm",
        "model": MODEL,
        "api_base": url,
        "api_key": "sk-bench",
        **options,
    }
    with a_deployment() as deployment:
        deployment.publish(make_load(trace))
        deployment.settings = {"RAGSONDE_JUDGES": json.dumps([judge])}
        worker = deployment.start("worker", "--threads", str(THREADS))
        with psycopg.connect(deployment.database_url, autocommit=True) as connection:

            def count() -> int:
                (scored,) = connection.execute(_SCORED).fetchone() or (0,)
                return scored

            scored = wait_for(lambda: (n := count()) >= WARM_UP and n, seconds=180, what="a warm worker")
            begun, cpu, machine = time.monotonic(), read_cpu(worker.pid), read_machine_cpu()
            wait_for(lambda: count() >= TRACES, seconds=180, what="the last score")
            seconds = time.monotonic() - begun
        traces = TRACES - scored
        return PathCost(
            cpu_seconds=(read_cpu(worker.pid) - cpu) / traces,
            machine_seconds=(read_machine_cpu() - machine) / traces,
            rate=traces / seconds,
            megabytes=read_rss(worker.pid),
        )


def measure_bare(trace: Trace, url: str) -> float:
    """Seconds of CPU of a bare call, on as many threads as the worker has."""
    prompt = render_prompt(trace, ASPECTS, reasons=Reasons.TRACE)
    schema = {"name": SCHEMA_NAME, "strict": True, "schema": build_schema(prompt.keys)}

    def call(_number: int) -> None:
        load_litellm().module.completion(
            model=MODEL,
            messages=prompt.messages,
            response_format={"type": "json_schema", "json_schema": schema},
            max_tokens=DEFAULT_MAX_TOKENS,
            temperature=0.0,
            timeout=TIMEOUT_SECONDS,
            max_retries=0,
            api_base=url,
            api_key="sk-bench",
        )

    call(0)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, range(WARM_UP)))
        begun = read_cpu(os.getpid())
        list(pool.map(call, range(TRACES - WARM_UP)))
        return (read_cpu(os.getpid()) - begun) / (TRACES - WARM_UP)


def make_load(trace: Trace) -> list[dict[str, Any]]:
    """Native messages of that trace, each with an answer of its own."""
    contexts = [context.content for context in trace.contexts or ()]
    return [
        {
            "trace_id": f"bench-{number}",
            "query": trace.query,
            "contexts": contexts,
            "answer": f"{trace.answer} {number}",
        }
        for number in range(TRACES)
    ]
