"""Whom a message names, as far as that can be seen in its body."""

from __future__ import annotations

from typing import NamedTuple


class BodyNames(NamedTuple):
    """Whom a body names.

    Attributes:
        strings: every string in it that may be an id of a trace.
        traces: those that stand under a key which says so.
        users, sessions, apps: values under keys that say so.
    """

    strings: frozenset[str] = frozenset()
    traces: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    apps: frozenset[str] = frozenset()
