"""Measured figures beside their bars, as ratios in one run: `make bench`; also written to build/bench.md.

Needs RabbitMQ and Postgres on 127.0.0.1; makes a virtual host and a database of its own and removes them. The
embedded servers are started in a folder of their own.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from assembly_costs import measure_assembly  # noqa: E402 - the tests' folder must be on the path first
from deployed import a_deployment, read_cpu, read_rss, require_server  # noqa: E402
from exposition_costs import measure_exposition  # noqa: E402
from figures import Figure  # noqa: E402
from format_costs import measure_formats  # noqa: E402
from judge_costs import measure_llm_judge  # noqa: E402
from path_costs import measure_path  # noqa: E402

from services.up_stack import Stack  # noqa: E402
from services.waiting import wait_for  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.deployments import Deployment

PAGE = ROOT / "build" / "bench.md"
TRACES = 1000
WARM_UP = 200


def measure_help() -> Figure:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "ragsonde", "--help"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Figure("ragsonde --help", f"{seconds:.2f} s CPU", "< 0.5 s CPU", seconds < 0.5)


def measure_evaluate() -> Figure:
    begun = time.monotonic()
    command = [sys.executable, "-m", "ragsonde", "evaluate", str(ROOT / "tests/data/demo.jsonl")]
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.monotonic() - begun
    return Figure("ragsonde evaluate, 60 traces", f"{seconds:.1f} s", "< 5 s", seconds < 5)


def measure_first_scores_and_second_start() -> list[Figure]:
    """The embedded stack from an empty folder to scores on the screen, then once more on the same data."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's Postgres runs under another account
        first = Stack(folder, "--demo")
        try:
            scored_seconds = first.wait_until_scored()
        finally:
            first.stop()
        second = Stack(folder)
        try:
            ready_seconds = second.wait_until_ready()
        finally:
            second.stop()
    return [
        Figure("ragsonde up --demo, first scores", f"{scored_seconds:.1f} s", "< 60 s", scored_seconds < 60),
        Figure("ragsonde up, second start", f"{ready_seconds:.1f} s", "< 5 s", ready_seconds < 5),
    ]


def measure_worker() -> list[Figure]:
    """The lexical worker and a task that does nothing, on the same broker, one after the other."""
    with a_deployment() as deployment:
        noop_cpu = measure_noop(deployment)
    with a_deployment() as deployment:
        deployment.publish(make_load())
        worker = deployment.start("worker")
        count = lambda: deployment.count("SELECT count(*) FROM evaluation WHERE state = 'scored'")  # noqa: E731
        wait_for(lambda: count() >= WARM_UP)
        scored, cpu, begun = count(), read_cpu(worker.pid), time.monotonic()
        wait_for(lambda: count() >= TRACES, seconds=120)
        seconds = time.monotonic() - begun
        per_trace = (read_cpu(worker.pid) - cpu) / (TRACES - scored)
        rate = (TRACES - scored) / seconds
        megabytes = read_rss(worker.pid)
    share = rate * per_trace
    return [
        Figure(
            "lexical judge, queue to committed row",
            f"{per_trace * 1000:.1f} ms CPU a trace ({per_trace / noop_cpu:.1f} x a task that does nothing)",
            "<= 15 ms",
            per_trace <= 0.015,
        ),
        Figure("its rate", f"{rate:.0f}/s = {share:.0%} of 1/CPU", ">= 85 %", share >= 0.85),
        Figure("worker's memory, lexical judge", f"{megabytes:.0f} MB RSS", "<= 150 MB", megabytes <= 150),
    ]


def measure_noop(deployment: Deployment) -> float:
    """Seconds of CPU of one task that writes a line."""
    deployment.publish(make_load())
    out = deployment.folder / "noop.txt"
    script = ROOT / "tests/benchmarks/noop_worker.py"
    with (deployment.folder / "noop.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(script), deployment.broker_url, str(out), "16", "0"],
            stdout=log,
            stderr=log,
            env=deployment.environment,
        )
    count = lambda: out.read_text().count("\ningest") if out.exists() else 0  # noqa: E731
    try:
        wait_for(lambda: count() >= WARM_UP)
        done, cpu = count(), read_cpu(process.pid)
        wait_for(lambda: count() >= TRACES - 1)
        return (read_cpu(process.pid) - cpu) / (TRACES - done)
    finally:
        process.terminate()
        process.wait(timeout=30)


def make_load() -> list[dict]:
    demo = [json.loads(line) for line in (ROOT / "tests/data/demo.jsonl").read_text().splitlines()]
    whole = [message for message in demo if message.get("contexts")]
    return [
        {**whole[number % len(whole)], "trace_id": f"bench-{number}", "tags": [str(number)]}
        for number in range(TRACES)
    ]


def main() -> int:
    machine = describe_machine()
    figures = [
        measure_help(),
        measure_evaluate(),
        *measure_first_scores_and_second_start(),
        *measure_formats(),
        *measure_assembly(require_server()),
        *measure_exposition(),
        *measure_worker(),
        *measure_llm_judge(),
        *measure_path(),
    ]
    table = Table("what", "measured", "bar", "met", title=f"ragsonde on {machine}")
    for figure in figures:
        table.add_row(figure.what, figure.measured, figure.bar, "yes" if figure.is_met else "[red]NO[/red]")
    Console(width=140).print(table)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(write_page(figures, machine))
    return 0 if all(figure.is_met for figure in figures) else 1


def describe_machine() -> str:
    """What the figures were measured on, and how busy it was before."""
    with psycopg.connect(require_server()) as connection:
        (postgres,) = connection.execute("SHOW server_version").fetchone() or ("?",)
    busy = os.getloadavg()[0]
    return (
        f"{read_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()},"
        f" Python {platform.python_version()}, Postgres {postgres.split()[0]}, load average {busy:.1f} before"
    )


def read_processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown processor"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model")))
    return next(names, "unknown processor")


def write_page(figures: Sequence[Figure], machine: str) -> str:
    """The table as Markdown."""
    rows = [
        f"| {one.what.strip()} | {one.measured} | {one.bar} | {'yes' if one.is_met else '**no**'} |"
        for one in figures
    ]
    return "\n".join(
        (f"{machine}.", "", "| what | measured | bar | met |", "| --- | --- | --- | --- |", *rows, "")
    )


if __name__ == "__main__":
    sys.exit(main())
