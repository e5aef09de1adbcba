"""The corpus of injections, and traces that carry them, read as the worker reads messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.api.traces import read_traces

if TYPE_CHECKING:
    from ragsonde_schemas.trace import Trace

CORPUS_FILE = Path(__file__).parents[1] / "data" / "injections" / "corpus.jsonl"
PLACES = ("question", "context", "answer")

BATTERY = "The torch needs one alkaline battery of size AA. It lasts for nine hours."
SHOP = "Opening times of our shop vary."


class Injection(NamedTuple):
    """One text that wants to steer a judge."""

    id: str
    kind: str
    where: str
    text: str

    @property
    def is_held_out(self) -> bool:
        """Every second text of a kind: the detection was not written against it."""
        return int(self.id.rpartition("-")[2]) % 2 == 0


def load_corpus() -> list[Injection]:
    """All texts, in the file's order."""
    return [Injection(**json.loads(line)) for line in CORPUS_FILE.read_text().splitlines()]


CORPUS = load_corpus()


def plant(text: str, where: str, *, trace_id: str = "t-1") -> Trace:
    """A trace with the text in that place, as it comes out of a message."""
    message: dict[str, Any] = {
        "trace_id": trace_id,
        "query": "Which battery does the torch need?",
        "contexts": [BATTERY, "A battery should not be thrown into fire.", SHOP],
        "answer": "The torch needs an alkaline battery.",
    }
    if where == "context":
        message["contexts"][1] = text
    else:
        message["query" if where == "question" else where] = text
    (trace,) = read_traces(json.dumps(message).encode())
    return trace
