"""Traces of several apps in turn, each app well until it is told to be otherwise."""

from __future__ import annotations

import itertools
import threading
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

QUESTION = "Which battery does the torch need?"
RELEVANT = "The torch takes one battery of size AA."
IRRELEVANT = "Our shop opens at nine."
ENVIRONMENT = "production"


class Health(Enum):
    """What the traces of an app are like."""

    WELL = auto()
    """one context answers the question"""
    EMPTY = auto()
    """nothing was retrieved"""
    RANKED_LOW = auto()
    """the context that answers comes second"""
    LACKING = auto()
    """no context has the answer"""
    SILENT = auto()
    """there are none"""


class Traffic:
    """Never two traces of the same content, so no verdict is a copy of another one.

    Args:
        apps: that have traces, in turn.
    """

    def __init__(self, apps: tuple[str, ...]) -> None:
        self._health = dict.fromkeys(apps, Health.WELL)
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()

    def turn(self, app: str, health: Health) -> None:
        """Makes the app's traces be so from the next on."""
        self._health[app] = health

    def stop(self) -> None:
        """Ends the stream."""
        self._stopping.set()

    def stream(self) -> Iterator[dict[str, Any]]:
        """Messages until `stop`."""
        while not self._stopping.is_set():
            for app, health in self._health.items():
                if health is not Health.SILENT:
                    yield self.make(app)

    def make(self, app: str) -> dict[str, Any]:
        """One more trace of an app."""
        number, health = next(self._numbers), self._health[app]
        contexts = {
            Health.WELL: [RELEVANT, IRRELEVANT],
            Health.RANKED_LOW: [IRRELEVANT, RELEVANT],
            Health.LACKING: [IRRELEVANT, IRRELEVANT],
        }
        return {
            "schema_version": "1",
            "trace_id": f"{app}-{number}",
            "app": app,
            "environment": ENVIRONMENT,
            "query": QUESTION,
            "answer": f"A battery of size AA, number {number}.",
            "contexts": [{"content": content} for content in contexts.get(health, [])],
        }
