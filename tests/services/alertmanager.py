"""A running Alertmanager, as Debian builds it, from where `make tools` unpacked it."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from services.promtool import require_tool
from services.rabbitmq_node import find_free_ports
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPLATES = b"/usr/share/prometheus/alertmanager"


class Alertmanager:
    """What a test says to it and reads from it; it answers at `url`."""

    def __init__(self, url: str) -> None:
        self.url = url

    def fire(self, *labels: dict[str, str]) -> None:
        body = json.dumps([{"labels": one} for one in labels]).encode()
        request = urllib.request.Request(  # noqa: S310 - our own address
            f"{self.url}/api/v2/alerts", data=body, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=5):  # noqa: S310
            pass

    def read(self) -> list[dict[str, Any]]:
        """All alerts, with what silences them."""
        with urllib.request.urlopen(f"{self.url}/api/v2/alerts", timeout=5) as response:  # noqa: S310
            return json.load(response)

    @property
    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=1) as response:  # noqa: S310
                return response.status == 200
        except OSError:
            return False


@contextmanager
def run_alertmanager(settings: dict[str, Any], *, folder: Path) -> Iterator[Alertmanager]:
    """Alertmanager with these settings on a free port of loopback."""
    (folder / "alertmanager.yaml").write_text(yaml.safe_dump(settings))
    (port,) = find_free_ports(1)
    program, working_dir = _make_movable(Path(require_tool("prometheus-alertmanager")), folder=folder)
    url = f"http://127.0.0.1:{port}"
    command = [
        str(program),
        f"--config.file={folder / 'alertmanager.yaml'}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    alertmanager = Alertmanager(url)
    log = (folder / "log").open("w")
    with log, subprocess.Popen(command, stdout=log, stderr=log, cwd=working_dir) as process:
        try:
            wait_for(
                lambda: alertmanager.is_ready or process.poll() is not None, what="an answer of Alertmanager"
            )
            assert process.poll() is None, (folder / "log").read_text()
            yield alertmanager
        finally:
            process.terminate()


def _make_movable(program: Path, *, folder: Path) -> tuple[Path, Path]:
    """The program and the folder to run it in.

    Debian's build reads its templates from below /usr. Where it was only unpacked, a copy looks for them
    below the folder it is run in: the path in it is as long as before.
    """
    if Path(_TEMPLATES.decode(), "default.tmpl").exists():
        return program, folder
    copy = folder / "alertmanager"
    copy.write_bytes(program.read_bytes().replace(_TEMPLATES, _TEMPLATES[1:] + b"/"))
    copy.chmod(0o755)
    return copy, program.parents[2]
