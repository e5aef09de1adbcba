"""A real Prometheus of our own, with its own port and folder."""

from __future__ import annotations

import json
import math
import re
import subprocess
import urllib.parse
import urllib.request
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from services.promtool import require_tool
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIG = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - {job_name: ragsonde, file_sd_configs: [{files: [targets.json], refresh_interval: 1s}]}
"""


class PrometheusServer:
    """A running one."""

    def __init__(self, url: str, *, folder: Path) -> None:
        self.url, self._folder = url, folder
        self._targets: list[str] = []

    def scrape(self, url: str) -> None:
        """Scrapes one more process from now on, and returns when it has."""
        self._targets.append(url.removeprefix("http://"))
        (self._folder / "targets.json").write_text(json.dumps([{"targets": self._targets}]))
        here = f'up{{instance="{self._targets[-1]}"}}'
        wait_for(lambda: self.query(here) == [1.0], seconds=60, what=f"a scrape of {url}")

    def ask(self, path: str, **parameters: str) -> Any:  # noqa: ANN401 - what the path gives
        """What its API answers."""
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=30) as answer:  # noqa: S310
            return json.load(answer)["data"]

    def reload(self) -> None:
        """Makes it read its files again; needs the option --web.enable-lifecycle."""
        urllib.request.urlopen(f"{self.url}/-/reload", data=b"", timeout=30).close()  # noqa: S310 - our own

    def read_metrics(self) -> str:
        """Its own series."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=30) as answer:  # noqa: S310 - our own
            return answer.read().decode()

    def query(self, expression: str) -> list[float]:
        """The numbers of an expression now, without those that are none."""
        found = self.ask("query", query=expression)["result"]
        return [float(one["value"][1]) for one in found if math.isfinite(float(one["value"][1]))]

    def query_range(self, expression: str, *, since: float, until: float, step: int) -> list[float]:
        """The numbers of all lines of an expression, without those that are none."""
        found = self.ask("query_range", query=expression, start=str(since), end=str(until), step=f"{step}s")[
            "result"
        ]
        values = (float(value) for line in found for _, value in line["values"])
        return [value for value in values if math.isfinite(value)]


def is_ready(url: str) -> bool:
    """True once it answers queries: it listens before it has read its own files, and then says 503."""
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=10) as answer:  # noqa: S310 - our own
            return bool(answer.status == HTTPStatus.OK)
    except OSError:
        return False


@contextmanager
def running_prometheus(
    folder: Path, *, config: str = CONFIG, options: tuple[str, ...] = ("--enable-feature=exemplar-storage",)
) -> Iterator[PrometheusServer]:
    """One that scrapes every second what it is told to, exemplars too; or as another configuration says."""
    program = require_tool("prometheus")
    (folder / "prometheus.yaml").write_text(config)
    (folder / "targets.json").write_text("[]")
    log = folder / "prometheus.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                program,
                "--config.file=prometheus.yaml",
                "--storage.tsdb.path=data",
                "--web.listen-address=127.0.0.1:0",
                *options,
            ],
            cwd=folder,
            stdout=output,
            stderr=output,
        )
    try:
        found = wait_for(
            lambda: re.findall(r'msg="Listening on" address=(\S+)', log.read_text()),
            seconds=60,
            what=f"the address in {log}",
        )
        url = f"http://{found[-1]}"
        wait_for(lambda: is_ready(url), seconds=60, what=f"a Prometheus that is ready, see {log}")
        yield PrometheusServer(url, folder=folder)
    finally:
        process.terminate()
        process.wait(timeout=30)
