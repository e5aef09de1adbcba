"""Every declared series gets its values somewhere, by the method of its kind, in a process that shows it."""

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ragsonde.exposition import series
from ragsonde.exposition.declaration import Declaration, Kind

PACKAGE = Path(series.__file__).parents[2]
DECLARED = {name: value for name, value in vars(series).items() if isinstance(value, Declaration)}
METHODS = {
    "add": Kind.COUNTER,
    "observe": Kind.HISTOGRAM,
    "set": Kind.GAUGE,
    "replace": Kind.SNAPSHOT,
    "state": Kind.INFO,
}
OF_THE_REGISTRY = {"SERIES_DROPPED": Kind.COUNTER, "IN_FLIGHT": Kind.GAUGE}
"""What the registry itself counts, by the families it holds."""
PLACES = {
    "exposition/sink.py": series.WORKER_SERIES,
    **{f"bootstrap/{name}.py": series.WORKER_SERIES for name in ("series", "sinks", "worker")},
    "private_data.py": series.WORKER_SERIES,
    "cli/receiver.py": series.RECEIVER_SERIES,
    "cli/monitor.py": series.MONITOR_SERIES,
    **{
        f"monitor/{name}.py": series.MONITOR_SERIES
        for name in ("loop", "chores", "judge_jobs", "check_jobs", "backfill_jobs", "ledger_jobs")
    },
    **{f"watching/{name}.py": series.MONITOR_SERIES for name in ("block_jobs", "gauge_jobs", "notice_jobs")},
}


class Use(NamedTuple):
    """A call that gives a series a value."""

    name: str
    kind: Kind
    place: str


@cache
def find_uses() -> tuple[tuple[Use, ...], frozenset[str]]:
    """The calls that set series, and all names of declarations that code outside of their room reads."""
    uses, read = [], set()
    for path in sorted(PACKAGE.rglob("*.py")):
        place = str(path.relative_to(PACKAGE))
        if place.startswith("exposition/series/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name) and node.id in DECLARED:
                read.add(node.id)
            uses += [Use(name, kind, place) for name, kind in read_call(node)]
            uses += [Use(name, OF_THE_REGISTRY[name], place) for name in read_family(node)]
    return tuple(uses), frozenset(read)


def read_call(node: ast.AST) -> list[tuple[str, Kind]]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return []
    kind, first = METHODS.get(node.func.attr), node.args[0]
    return [(first.id, kind)] if kind and isinstance(first, ast.Name) and first.id in DECLARED else []


def read_family(node: ast.AST) -> list[str]:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Name):
        return []
    return [node.slice.id] if node.slice.id in OF_THE_REGISTRY else []


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_series_is_set_by_the_method_of_its_kind(name):
    kinds = {use.kind for use in find_uses()[0] if use.name == name}
    assert kinds == {DECLARED[name].kind}


def test_a_series_is_set_only_where_its_process_exposes_it():
    for use in find_uses()[0]:
        if use.place != "exposition/registry.py":
            assert DECLARED[use.name] in PLACES[use.place], use


def test_no_code_reads_a_declaration_that_is_exposed_nowhere():
    exposed = {*series.WORKER_SERIES, *series.MONITOR_SERIES, *series.RECEIVER_SERIES}
    assert {name for name in find_uses()[1] if DECLARED[name] not in exposed} == set()


def test_each_declaration_has_one_name_and_each_name_one_declaration():
    assert len(set(DECLARED.values())) == len(DECLARED) == len({one.name for one in DECLARED.values()})
    assert set(DECLARED) <= set(series.__all__)
