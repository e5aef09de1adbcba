"""The faults of `make mutate-detector` are of rules that are there."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests/benchmarks/detector"))

from mutate_detector import FAULTS  # noqa: E402 - the benchmark's folder must be on the path first


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.rule)
def test_a_fault_changes_its_module(fault):
    source = (ROOT / f"worker/ragsonde/regression/{fault.module}.py").read_text()
    assert source.replace(fault.found, fault.put, 1) != source
