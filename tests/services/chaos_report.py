"""What a run of the chaos suite survived, gathered by its tests and shown as one table."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field

IS_LONG = os.environ.get("CHAOS") == "long"
_USUAL_SEED = 20261130
SEED = int(
    os.environ.get("CHAOS_SEED") or (random.SystemRandom().randrange(2**31) if IS_LONG else _USUAL_SEED)
)
"""Of every schedule: the same in each short run, another one in each long run, or what CHAOS_SEED says."""


@dataclass
class ChaosReport:
    """Figures of one run; tests add to them before they assert, so that a red run shows them too.

    Attributes:
        faults: how often each kind of fault was survived.
        traces: that were published under faults.
        bad_inputs: messages that no honest producer sends.
        lost: traces that did not end in exactly one state for each judge.
        duplicated: rows beyond one for each trace, judge and scorer.
        judged_twice: calls to the provider beyond one a trace and what was in flight at kills.
        rates: traces a second, by the load they were measured under.
        figures: further lines, in words.
    """

    faults: Counter[str] = field(default_factory=Counter)
    traces: int = 0
    bad_inputs: int = 0
    lost: int = 0
    duplicated: int = 0
    judged_twice: int = 0
    rates: dict[str, float] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)

    def survive(self, fault: str, times: int = 1) -> None:
        """A fault was inflicted, and its test goes on."""
        self.faults[fault] += times

    def count_bad_inputs(self, number: int) -> None:
        """So many hostile or broken inputs were tried."""
        self.bad_inputs += number

    def list_rows(self) -> list[tuple[str, str]]:
        """The table's lines: what, and how much."""
        return [
            *((f"load held: {what}", f"{rate:.0f} traces/s") for what, rate in self.rates.items()),
            ("traces under faults", f"{self.traces:,}"),
            *((f"survived: {fault}", str(times)) for fault, times in sorted(self.faults.items())),
            ("bad inputs tried", f"{self.bad_inputs:,}"),
            ("lost", str(self.lost)),
            ("duplicated", str(self.duplicated)),
            ("judged twice", str(self.judged_twice)),
            *self.figures.items(),
            ("form and seed", f"{'long' if IS_LONG else 'short'}, CHAOS_SEED={SEED}"),
        ]

    def write(self) -> str:
        """The table in Markdown."""
        rows = [("what", "figure"), *self.list_rows()]
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        lines = [f"| {what:{widths[0]}} | {figure:{widths[1]}} |" for what, figure in rows]
        lines.insert(1, f"| {'-' * widths[0]} | {'-' * widths[1]} |")
        return "\n".join(lines) + "\n"
