"""Debian's Prometheus and Alertmanager tools, as `make tools` unpacks them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / ".tools" / "usr" / "bin"


def find_tool(name: str) -> str | None:
    """The path of a tool, unpacked here or installed on this machine; None where there is none."""
    return shutil.which(name, path=f"{TOOLS}{os.pathsep}{os.environ.get('PATH', '')}")


def require_tool(name: str) -> str:
    """The path of a tool; without it the test is skipped."""
    found = find_tool(name)
    if found is None:
        pytest.skip(f"there is no {name}: make tools")
    return found


def run_tool(*command: str) -> tuple[int, str]:
    """The exit code of a tool, and all that it printed."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr
