"""Tests that were skipped for want of something: where the suite decides (CI is set) there may be none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

NOT_TO_BE_HAD = ("only root may", "root may", "only Linux", "nobody can reach")
"""How reasons begin that no installation mends: who runs the tests, on what, where the checkout lies."""


def name_lack(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """The test or module that was skipped, and for want of what; None of any other report."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return None
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = told.removeprefix("Skipped: ")
    return None if reason.startswith(NOT_TO_BE_HAD) else f"{report.nodeid}: {reason}"
