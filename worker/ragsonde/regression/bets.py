"""What a gambler would have won who bets on a fall: fair odds as long as there is none.

For a mean of at least m, `1 + lam (m - x)` has expectation at most 1 for every stake lam from 0 to
1 / (1 - m): the test supermartingale of a bounded mean (Waudby-Smith and Ramdas, Estimating means of bounded
random variables by betting, JRSS B 86, 2024; Shafer, Testing by betting, JRSS A 184, 2021).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

STAKES = np.geomspace(0.05, 3.0, 12)
"""lam of the 12 bets: small ones see small falls, large ones see large falls soon."""
LARGEST_SHARE = 0.95
"""No bet may lose more than this share of what it has by one trace."""


def grow_logs(
    values: NDArray[np.float64],
    counts: NDArray[np.int64],
    levels: NDArray[np.float64],
    *,
    is_rising: bool = False,
) -> NDArray[np.float64]:
    """The log of what each bet is multiplied by in each row: [rows, 12].

    Args:
        values: [rows], scores.
        counts: [rows], traces that scored so.
        levels: [rows], m of the row's cell.
        is_rising: bets on a mean above m instead: the same with 1 - x and 1 - m.
    """
    gain = values - levels if is_rising else levels - values
    room = levels if is_rising else 1 - levels
    with np.errstate(divide="ignore"):
        stakes = np.minimum(STAKES, LARGEST_SHARE / room[:, None])
    return np.asarray(counts[:, None] * np.log1p(stakes * gain[:, None]), dtype=np.float64)
