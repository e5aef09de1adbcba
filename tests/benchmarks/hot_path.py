"""Where a worker's CPU goes on the path of a trace: `make hot-path`.

py-spy looks at a worker that takes a backlog, a hundred times a second, at the thread that holds the
interpreter's lock: a worker has many that wait. A sample counts once as *within* every package of ours that
is on its stack, and once for whoever *ran*: the library, or the package of ours, of the innermost frame that
has one. What the garbage collector takes counts for whoever happened to run.

Usage: hot_path.py COMMAND..., where COMMAND... runs py-spy.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from bench import make_load  # noqa: E402 - the tests' folder must be on the path first
from deployed import a_deployment  # noqa: E402
from judge_costs import MODEL, a_provider  # noqa: E402

from services.waiting import wait_for  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WARM_UP = 200
TRACES = {"lexical": 6000, "LLM": 2000}
SECONDS = 10
RATE = 100
SHOWN = 8
LEAST_SHARE = 0.01
_OURS = re.compile(r"/worker/ragsonde/(\w+)(?:/(\w+))?")
_LIBRARY = re.compile(r"/site-packages/(\w+)")
_SCORED = "SELECT count(*) FROM evaluation WHERE state = 'scored'"


class Samples(NamedTuple):
    """What py-spy saw.

    Attributes:
        total: samples.
        within: by package of ours, those with a frame of it.
        ran: by library or package of ours, those whose innermost known frame is of it.
    """

    total: int
    within: Counter[str]
    ran: Counter[str]


def name_part(frame: str) -> str | None:
    """The package of ours or the library that a frame is of; None of the interpreter's own modules."""
    ours = _OURS.search(frame)
    if ours:
        package, module = ours.groups()
        return f"ragsonde.{package}.{module}" if package == "judging" and module else f"ragsonde.{package}"
    library = _LIBRARY.search(frame)
    return library.group(1) if library else None


def read_samples(lines: Iterable[str]) -> Samples:
    """Counts of stacks as py-spy writes them: frames from the outermost, separated by `;`, and a count."""
    total, within, ran = 0, Counter[str](), Counter[str]()
    for line in lines:
        stack, _, number = line.rstrip().rpartition(" ")
        count = int(number)
        parts = [part for frame in stack.split(";") if (part := name_part(frame)) is not None]
        total += count
        for part in {part for part in parts if part.startswith("ragsonde.")}:
            within[part] += count
        ran[parts[-1] if parts else "interpreter"] += count
    return Samples(total, within, ran)


def watch_worker(kind: str, py_spy: Sequence[str], judge: dict[str, Any]) -> Samples:
    """Samples of a worker with this judge, on a backlog."""
    with a_deployment() as deployment:
        load = make_load()
        backlog = [
            # each of its own, or its verdicts are found
            {**load[number % len(load)], "trace_id": f"hot-{number}", "answer": f"It is {number}."}
            for number in range(TRACES[kind])
        ]
        deployment.publish(backlog)
        deployment.settings = {"RAGSONDE_JUDGES": json.dumps([judge])}
        worker = deployment.start("worker")
        wait_for(lambda: deployment.count(_SCORED) >= WARM_UP, seconds=180, what="a warm worker")
        out = deployment.folder / "stacks.txt"
        asked = ["--pid", str(worker.pid), "--duration", str(SECONDS), "--rate", str(RATE), "--gil"]
        subprocess.run(
            [*py_spy, "record", *asked, "--format", "raw", "--full-filenames", "--output", str(out)],
            check=True,
            capture_output=True,
        )
        left = TRACES[kind] - deployment.count(_SCORED)
        if left <= 0:
            sys.exit(f"the backlog of {TRACES[kind]:,} traces was done before {SECONDS} s: raise TRACES")
        return read_samples(out.read_text().splitlines())


def show(kind: str, samples: Samples) -> Table:
    """The parts with the largest shares."""
    table = Table("within", "share", "ran", "share", title=f"{kind} judge: {samples.total:,} samples")
    rows = [
        [
            (name, n / samples.total)
            for name, n in counter.most_common(SHOWN)
            if n >= LEAST_SHARE * samples.total
        ]
        for counter in (samples.within, samples.ran)
    ]
    for number in range(max(map(len, rows))):
        cells = [one[number] if number < len(one) else ("", None) for one in rows]
        table.add_row(
            *(cell for name, share in cells for cell in (name, "" if share is None else f"{share:.0%}"))
        )
    return table


def main(py_spy: Sequence[str]) -> int:
    """Both tables on the screen."""
    if not py_spy:
        sys.exit(__doc__)
    console = Console(width=110)
    console.print(show("lexical", watch_worker("lexical", py_spy, {"name": "lexical", "kind": "lexical"})))
    with a_provider() as url:
        judge = {"name": "gpt", "kind": "litellm", "model": MODEL, "api_base": url, "api_key": "sk-bench"}
        console.print(show("LLM", watch_worker("LLM", py_spy, judge)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
