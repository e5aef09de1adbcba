"""When a block brings no evidence: judgements fail, or fields are found by other rules, and not at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.regression.extraction_shares import ExtractionShares

COVERAGE = "coverage"
"""Why a block brings no evidence: judgements fail more often than in the baseline, and not at random."""
EXTRACTION = "extraction"
"""Likewise, as fields are found by other rules than a day ago; the hold names the one that moved most."""
COVERAGE_DROP = 0.10
COVERAGE_BLOCKS = 12
LEAST_OUTCOMES = 20


def find_failed_share(
    outcomes: Mapping[int, tuple[int, int]], first: int, end: int, *, least: int = 1
) -> float | None:
    """The share of errors in blocks `first` to `end - 1`; None of fewer than `least` outcomes."""
    found = [outcomes[block] for block in range(first, end) if block in outcomes]
    failed = sum([failed for _, failed in found])
    total = failed + sum([scored for scored, _ in found])
    return failed / total if total >= least else None


def find_hold(outcomes: Mapping[int, tuple[int, int]], usual_share: float, *, block: int) -> str | None:
    """Why a block brings no evidence: over the hour that it ends, many more judgements fail than usual."""
    share = find_failed_share(outcomes, block + 1 - COVERAGE_BLOCKS, block + 1, least=LEAST_OUTCOMES)
    return COVERAGE if share is not None and share > usual_share + COVERAGE_DROP else None


def name_hold(
    outcomes: Mapping[int, tuple[int, int]],
    shares: ExtractionShares | None,
    *,
    usual_share: float,
    block: int,
) -> str | None:
    """Why a block brings no evidence, the rule named that moved; None where it does.

    Args:
        outcomes: by block, of the hour that it ends.
        shares: as `WatchedStream` has them.
        usual_share: of outcomes that are errors.
        block: which.
    """
    held = find_hold(outcomes, usual_share, block=block)
    if held is not None:
        return held
    move = None if shares is None else shares.find_move(block)
    return None if move is None else f"{EXTRACTION}: {move.rule.field} by {move.rule.name}"
