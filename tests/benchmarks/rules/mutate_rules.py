"""Makes faults in the alert rules, one at a time, and counts how many their tests notice: make mutate-rules.

Prints the faults that no test noticed; exit code 1 where less than 90 % were.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from builders.alert_rules import read_rules  # noqa: E402 - the tests' folder must be on the path first
from builders.rule_mutants import list_mutants  # noqa: E402
from services.promtool import find_tool  # noqa: E402
from services.rule_trial import notice  # noqa: E402

BAR = 0.9


def mutate(*, jobs: int, only: str) -> int:
    console = Console()
    promtool = find_tool("promtool")
    if promtool is None:
        console.print("there is no promtool: make tools", style="red")
        return 2
    rules = read_rules()
    mutants = [mutant for mutant in list_mutants(rules) if only in mutant.rule.name]
    with ThreadPoolExecutor(jobs) as pool, Progress(console=console, transient=True) as progress:
        told = pool.map(lambda mutant: notice(mutant, rules, promtool=promtool), mutants)
        noticed = list(progress.track(told, total=len(mutants), description="faults tried"))
    table = Table("rule", "fault that no test noticed")
    for mutant, is_noticed in zip(mutants, noticed, strict=True):
        if not is_noticed:
            table.add_row(mutant.rule.name, mutant.change)
    console.print(table)
    share = sum(noticed) / len(noticed)
    console.print(f"{sum(noticed)} of {len(noticed)} faults noticed: {share:.1%}, bar {BAR:.0%}")
    return int(share < BAR)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="promtools at once")
    parser.add_argument("--only", default="", help="rules whose name holds this")
    given = parser.parse_args()
    sys.exit(mutate(jobs=given.jobs, only=given.only))
