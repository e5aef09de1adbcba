"""kustomize, by itself or in kubectl, where one is installed."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from pathlib import Path


def build_overlay(folder: Path) -> list[dict[str, Any]]:
    """The objects that an overlay makes; skips on a machine without the program."""
    command = _find_command()
    if command is None:
        pytest.skip("neither kustomize nor kubectl is on the path")
    ended = subprocess.run([*command, folder], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return [one for one in yaml.safe_load_all(ended.stdout) if one]


def _find_command() -> tuple[str, ...] | None:
    if shutil.which("kustomize"):
        return ("kustomize", "build")
    return ("kubectl", "kustomize") if shutil.which("kubectl") else None
