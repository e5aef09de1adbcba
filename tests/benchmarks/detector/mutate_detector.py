# ruff: noqa: T201, E501  # a program that prints a table; a line a fault
"""Breaks one rule of the regression detector at a time: which ones do its unit tests miss?

Works on a copy. Exit code 1 where a broken rule is not seen: `make mutate-detector`, or `make mutate-detector
ARGS='"the baseline"'` for the rules that have these words. The tests nearest to the rule are run first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
TESTS = "tests/unit/regression"
NEAREST = {"strata": "baseline", "arming": "baseline", "latching": "judging", "watched_stream": "judging"}
"""Modules whose rules are tried in the tests of another one."""


class Fault(NamedTuple):
    """One rule, and how it is broken."""

    rule: str
    module: str
    found: str
    put: str


FAULTS = (
    Fault("scores are rounded up to bins", "blocks", "np.ceil(scores", "np.floor(scores"),
    Fault("a bet loses at most 95 %", "bets", "LARGEST_SHARE = 0.95", "LARGEST_SHARE = 1.0"),
    Fault("bets on recovery are the mirror", "bets", "levels if is_rising else 1 - levels", "1 - levels"),
    Fault("growth is tempered by phi", "evidence", " / baseline.overdispersion", " / 1.0"),
    Fault(
        "growth is capped at a third",
        "evidence",
        "np.minimum(growth, np.asarray(log_threshold)[..., None] / LEAST_BLOCKS)",
        "growth",
    ),
    Fault("a block without traces changes nothing", "evidence", "has_traces[:, None],", "has_traces[:, None] | True,"),
    Fault("every block may begin a fall", "evidence", "np.logaddexp(log_bets, 0.0)", "np.maximum(log_bets, 0.0)"),
    Fault("evidence is the mean of the bets", "evidence", ".mean(axis=-1))", ".max(axis=-1))"),
    Fault("the smallest drop is allowed for", "baseline", "means - smallest_drop - 2", "means - 2"),
    Fault("the baseline's error is allowed for", "baseline", "- 2 * error", "- 0 * error"),
    Fault("levels are at most .98", "baseline", "np.clip(lowest, 0.0, HIGHEST_LEVEL)", "np.clip(lowest, 0.0, 1.0)"),
    Fault("hours are shrunk by 200", "baseline", "PSEUDO_TRACES = 200", "PSEUDO_TRACES = 0"),
    Fault("what has no room to fall is not watched", "baseline", "is_watched=lowest >= LOWEST_LEVEL", "is_watched=lowest >= -1"),
    Fault("phi is at least 1", "dispersion", "max(1.0, chi_square / freedom)", "chi_square / freedom"),
    Fault("hours of few traces tell no phi", "dispersion", "LEAST_TRACES = 5", "LEAST_TRACES = 1"),
    Fault("a stratum needs 1,000 traces", "strata", "LEAST_TRACES = 1_000", "LEAST_TRACES = 100"),
    Fault("at most 8 strata", "strata", "MOST_STRATA = 8", "MOST_STRATA = 9"),
    Fault("one stratum alone gives hours", "strata", " or np.count_nonzero(traces) == 1", ""),
    Fault("a page is for all streams", "threshold", "page_days * max(1, active_streams)", "page_days"),
    Fault("active are those of 7 days", "threshold", "ACTIVE_DAYS = 7", "ACTIVE_DAYS = 8"),
    Fault("500 traces pin a baseline", "baseline", "LEAST_PINNED = 500", "LEAST_PINNED = 400"),
    Fault("a provisional one needs a day", "arming", "and has_day", ""),
    Fault("a provisional one needs 1,000", "baseline", "LEAST_PROVISIONAL = 1_000", "LEAST_PROVISIONAL = 600"),
    Fault("a floor comes before a provisional one", "arming", "if floor is not None:", "if floor is not None and is_complete:"),
    Fault("an alert stays until recovery", "alert_state", "if state.level is not Level.QUIET:", "if False:"),
    Fault("recovery resolves at 30 days", "threshold", "RESOLVE_DAYS = 30.0", "RESOLVE_DAYS = 300.0"),
    Fault("evidence ends with the alert", "alert_state", "return StreamState(), EventKind.RESOLVE", "return replace(state, level=Level.QUIET, opened=None), EventKind.RESOLVE"),
    Fault("what may not page warns only", "alert_state", "if may_page and", "if"),
    Fault("a warning once", "alert_state", "state.level is Level.QUIET and log_evidence", "log_evidence"),
    Fault("another baseline begins evidence anew", "alert_state", "return StreamState(level=self.level, opened=self.opened)", "return self"),
    Fault("provisional ones only warn, live", "watched_stream", "self.can_page and is_sure", "self.can_page"),
    Fault("provisional ones only warn, replayed", "replay", "may_page and is_sure", "may_page"),
    Fault("failing judgements hold, live", "watched_stream", "judging is None or self.hold is not None", "judging is None"),
    Fault("failing judgements hold, replayed", "replay", "if block in self.held:", "if False:"),
    Fault("few outcomes hold nothing", "holds", "LEAST_OUTCOMES = 20", "LEAST_OUTCOMES = 1"),
    Fault("failing as usual holds nothing", "holds", "share > usual_share + COVERAGE_DROP", "share > COVERAGE_DROP"),
    Fault("what was told is not told again", "watched_stream", "if block <= self.judged or any(", "if any("),
    Fault("what a person closed stays closed", "latching", "if any(fall.closed == block for fall in falls):", "if False:"),
    Fault("what was told later is not told", "latching", "if not is_told_later and", "if"),
    Fault("the beginning is CUSUM's", "explanation", "max(drop, first_drop / 4) / 2)", "0)"),
    Fault("a mix shift is no drop", "explanation", "baseline.means @ traces - total.sum()", "baseline.mean * n - total.sum()"),
    Fault("the interval is 2.4 errors", "explanation", "INTERVAL_FACTOR = 2.4", "INTERVAL_FACTOR = 0.4"),
    Fault("the worst strata come first", "explanation", "np.argsort(-lost", "np.argsort(lost"),
    Fault("hours are no strata to name", "explanation", "if baseline.cells.is_by_hour:\n        return ()", "if False:\n        return ()"),
    Fault("the beginning lies after the last end", "replay", "resolved = max((event.block + 1", "resolved = min((0"),
    Fault("loud streams are stepped alone", "fleet", "stream.state.level is Level.QUIET and not is_loud[place]", "not is_loud[place]"),
)  # fmt: skip


def run_tests(source: Path, tests: str = TESTS) -> bool:
    """True where they pass."""
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT / 'schemas'}"}
    command = [sys.executable, "-m", "pytest", tests, "-x", "-q", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    return ended.returncode == 0


def measure(wanted: str = "") -> int:
    missed, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(shutil.copytree(ROOT / "worker", Path(folder) / "worker"))
        if not run_tests(source):
            print("the tests fail before anything is broken", file=sys.stderr)
            return 2
        for fault in FAULTS:
            if wanted not in fault.rule:
                continue
            file = source / "ragsonde/regression" / f"{fault.module}.py"
            text = file.read_text()
            if fault.found not in text:
                print(f"{fault.rule}: not found in {file.name}: {fault.found}", file=sys.stderr)
                return 2
            file.write_text(text.replace(fault.found, fault.put, 1))
            nearest = f"{TESTS}/test_{NEAREST.get(fault.module, fault.module)}.py"
            is_missed = run_tests(source, nearest) and run_tests(source)
            file.write_text(text)
            missed += [fault.rule] * is_missed
            tried += 1
            print(f"| {fault.rule} | {'**missed**' if is_missed else 'seen'} |", flush=True)
    print(f"{len(missed)} of {tried} faults are missed")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(measure(*sys.argv[1:]))
