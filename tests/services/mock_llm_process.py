"""The mock provider as a process of its own, so that what it costs is not the worker's."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parents[1]


class LlmProcess:
    """The provider; `url` is an api_base."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._root = url.removesuffix("/v1")

    def run_script(self, script: str | list[str] | dict[str, float]) -> None:
        """Does this from the next call on."""
        request = urllib.request.Request(  # noqa: S310 - our own address
            f"{self._root}/script", data=json.dumps({"script": script}).encode(), method="POST"
        )
        urllib.request.urlopen(request, timeout=30).close()  # noqa: S310

    def read_stats(self) -> dict[str, Any]:
        """Its counts."""
        with urllib.request.urlopen(f"{self._root}/stats", timeout=30) as answer:  # noqa: S310
            return json.load(answer)

    @property
    def total(self) -> int:
        """How many calls came in."""
        return self.read_stats()["total"]


@contextmanager
def running_llm(*, latency_seconds: float = 0.0, seed: int = 0) -> Iterator[LlmProcess]:
    """The provider, good until it gets a script."""
    command = [
        sys.executable,
        "-m",
        "mock_llm.server",
        "--latency",
        str(latency_seconds),
        "--seed",
        str(seed),
    ]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield LlmProcess(json.loads(process.stdout.readline())["url"])
        finally:
            process.kill()
