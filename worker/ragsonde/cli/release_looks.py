"""One look at two releases after another, until there is a verdict or the time is over."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.cli.meant_evaluations import refuse_unknown
from ragsonde.regression.release_comparison import ALPHA, Verdict
from ragsonde.regression.release_gate import GatedRelease, find_strictest, gate_release
from ragsonde.storage.release_scores import read_release_scores
from ragsonde_schemas.errors import DatabaseLostError, GivenUpError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from sqlalchemy import Engine

    from ragsonde.storage.release_scores import Rivals, Sides

PAUSE_SECONDS = 15.0
BUSY_SHARE = 0.1
"""No more of the time than this is Postgres read: after a look that took long the pause is longer."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is compared, and when a difference matters.

    Attributes:
        environment: of the traces.
        smallest_drop: the smallest one that matters.
        scorers, judges: only these; empty: all.
        left_out: scorers of which higher is not better.
        tags: that tell traces apart.
    """

    environment: str
    smallest_drop: float
    scorers: Collection[str] = ()
    judges: Collection[str] = ()
    left_out: Collection[str] = ()
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Both releases under one scorer and judge."""

    scorer: str
    judge: str
    gated: GatedRelease


@dataclass(frozen=True, slots=True)
class ReleaseLook:
    """What one look found.

    Attributes:
        rivals: which releases, and until when.
        environment: of their traces.
        alpha: how likely a wrong verdict may be under each scorer and judge.
        pairs: by scorer and judge; none where neither release has an outcome.
    """

    rivals: Rivals
    environment: str
    alpha: float
    pairs: tuple[ComparedPair, ...]

    @property
    def verdict(self) -> Verdict:
        """The strictest of all."""
        return find_strictest(pair.gated.comparison.verdict for pair in self.pairs)


def look_at_releases(engine: Engine, rivals: Rivals, wish: Wish) -> ReleaseLook:
    """What is known now.

    The chance of a wrong verdict is shared: that of all pairs together is at most that of one alone.

    Raises:
        InputError: outcomes there are, but none by a scorer or judge that was asked for.
        DatabaseLostError: Postgres is away.
        GivenUpError: it took too long.
    """
    found = read_release_scores(engine, rivals, environment=wish.environment, tags=wish.tags)
    chosen = choose_pairs(found, wish)
    alpha = ALPHA / max(1, len(chosen))
    pairs = tuple(
        ComparedPair(
            scorer,
            judge,
            gate_release(sides.old, sides.new, smallest_drop=wish.smallest_drop, alpha=alpha),
        )
        for (scorer, judge), sides in chosen.items()
    )
    return ReleaseLook(rivals, wish.environment, alpha, pairs)


def choose_pairs(found: dict[tuple[str, str], Sides], wish: Wish) -> dict[tuple[str, str], Sides]:
    """Those that are meant; under which neither release has a score, only what was asked for by name.

    Raises:
        InputError: as `look_at_releases`.
    """
    for option, names, place in (("--scorer", wish.scorers, 0), ("--judge", wish.judges, 1)):
        known = {key[place] for key in found}
        for name in names if found else ():
            refuse_unknown(option, name, known=known, what="neither release has an outcome of it")
    return {
        (scorer, judge): sides
        for (scorer, judge), sides in found.items()
        if (scorer in wish.scorers if wish.scorers else scorer not in wish.left_out and sides.has_scores)
        and (not wish.judges or judge in wish.judges)
    }


def wait_for_verdict(
    look: Callable[[], ReleaseLook],
    *,
    seconds: float,
    tell: Callable[[ReleaseLook], None],
    note: Callable[[str], None],
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> ReleaseLook:
    """The first look with a verdict, else the last one within so many seconds.

    An outage of Postgres is waited out as long as there is time.

    Args:
        look: what is known now.
        seconds: for which it is waited; with 0 there is one look.
        tell: takes each look without a verdict after which there is another one.
        note: takes what went wrong and is tried again.
        pause: waits for so many seconds.
        clock: in seconds.

    Raises:
        DatabaseLostError: Postgres is away, or too slow, at the last look.
    """
    ends_at = clock() + seconds
    while True:
        begun = clock()
        left = ends_at - begun
        try:
            found = look()
        except (DatabaseLostError, GivenUpError) as error:
            if left <= 0:
                raise DatabaseLostError(str(error)) from error
            note(f"{error}; asked again")
        else:
            if found.verdict is not Verdict.UNDECIDED or left <= 0:
                return found
            tell(found)
        rest = max(PAUSE_SECONDS, (clock() - begun) * (1 / BUSY_SHARE - 1))
        pause(max(0.0, min(rest, ends_at - clock())))
