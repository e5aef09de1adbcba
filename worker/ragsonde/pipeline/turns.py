"""A claim in its turn: what an earlier run did not end is claimed and run alone."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.ports import Isolation

_Key_contra = TypeVar("_Key_contra", contravariant=True)
_Claimed_co = TypeVar("_Claimed_co", covariant=True)
_Key = TypeVar("_Key")
_Claimed = TypeVar("_Claimed")


class Claimable(Protocol[_Key_contra, _Claimed_co]):
    """A store of work that is claimed by key."""

    def claim(self, key: _Key_contra, /, *, spares_suspects: bool) -> _Claimed_co | None:
        """The work under a lease, one start more counted; None when it is not due or somebody else has it."""
        ...

    def is_suspect(self, key: _Key_contra, /) -> bool:
        """True when it is due, and an earlier claim of it never ended."""
        ...


@contextmanager
def claiming_in_turn(
    store: Claimable[_Key, _Claimed], key: _Key, isolation: Isolation
) -> Iterator[_Claimed | None]:
    """Claims a piece of work for the block, in which it may run: a suspect has the process alone.

    A start is counted only in its turn. What merely waited while another work, alone, took the process with
    it is not to blame, and not counted. Inside of shared work nobody can be alone: then a suspect is left to
    the sweeper.

    Raises:
        DatabaseLostError: it may be claimed or not; the sweeper finds it when the lease is over.
    """
    with isolation.hold(alone=False):
        claimed = store.claim(key, spares_suspects=True)
        if claimed is not None or not store.is_suspect(key):
            yield claimed
            return
    with isolation.hold(alone=True) as is_alone:
        yield store.claim(key, spares_suspects=False) if is_alone else None
