"""Which outcome a call gets."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from mock_llm.outcomes import NAMES, Outcome

Script = (
    str
    | Outcome
    | Sequence[str | Outcome]
    | Mapping[str, float]
    | Callable[[Mapping[str, Any]], str | Outcome]
)
"""One outcome for all calls; or one after the other, the last one for ever; or shares (the rest is `ok`),
drawn from the seed, the request's data and how often they were seen, whatever the order; or a function.
`429@0.5` is the outcome 429 with Retry-After: 0.5."""


class Schedule:
    """Deals outcomes to calls, from any thread."""

    def __init__(self, script: Script, *, seed: int = 0) -> None:
        self._script = script
        self._seed = seed
        self._lock = threading.Lock()
        self._count = 0
        self._seen: Counter[str] = Counter()
        for name in _names(script):
            if name not in NAMES:
                raise ValueError(f"unknown outcome {name!r}; known: {', '.join(sorted(NAMES))}")

    def choose(self, request: Mapping[str, Any]) -> Outcome:
        """The outcome of the next call."""
        with self._lock:
            found = self._choose(request)
            self._count += 1
        return _read_outcome(found) if isinstance(found, str) else found

    def _choose(self, request: Mapping[str, Any]) -> str | Outcome:
        if isinstance(self._script, str | Outcome):
            return self._script
        if isinstance(self._script, Mapping):
            return self._draw(self._script, request)
        if isinstance(self._script, Sequence):
            return self._script[min(self._count, len(self._script) - 1)]
        return self._script(request)

    def _draw(self, shares: Mapping[str, float], request: Mapping[str, Any]) -> str:
        content = next((m["content"] for m in request["messages"] if m["role"] == "user"), "")
        digest = sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        self._seen[digest] += 1
        draw = sha256(f"{self._seed}:{digest}:{self._seen[digest]}".encode()).digest()
        left = int.from_bytes(draw[:8], "big") / 2**64
        for name, share in shares.items():
            left -= share
            if left < 0:
                return name
        return "ok"


def _names(script: Script) -> set[str]:
    if isinstance(script, str | Outcome):
        items: Sequence[str | Outcome] = [script]
    elif isinstance(script, Mapping):
        items = list(script)
    elif isinstance(script, Sequence):
        items = script
    else:
        items = []
    return {_read_outcome(item).name if isinstance(item, str) else item.name for item in items}


def _read_outcome(text: str) -> Outcome:
    name, has_wait, retry_after = text.partition("@")
    return Outcome(name, retry_after=retry_after if has_wait else None)
