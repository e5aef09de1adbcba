"""What `doctor` says of the processes that listen on this machine: their ports, and whether they answer."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from ragsonde.cli.finding import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.settings import Settings

PORTS_LOOKED_AT = 16
"""From the first one of each kind on: a taken port leads to the next."""
_CONNECT_SECONDS = 0.5
_MOST_PORT = 65_536
ANSWER_SECONDS = 3.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - only compared


def examine_listening(settings: Settings, *, answer_seconds: float = ANSWER_SECONDS) -> Iterator[Finding]:
    """A finding for each process of ours that listens here, by kind and port; none for strangers that answer.

    Args:
        settings: with the first port of each kind.
        answer_seconds: within which a process that lives answers.
    """
    ports, own_host = settings.ports, settings.host
    kinds = (
        ("monitor", own_host, ports.monitor),
        ("worker", own_host, ports.worker_metrics),
        ("receiver", settings.receiver.host or own_host, ports.receiver),
    )
    for kind, bound, first in kinds:
        host = _EVERYWHERE.get(bound, bound)
        for port in range(first, min(first + PORTS_LOOKED_AT, _MOST_PORT)):
            if _listens(host, port):
                shown = f"[{host}]" if ":" in host else host
                yield from _ask(kind, f"http://{shown}:{port}", answer_seconds=answer_seconds)


def _listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_SECONDS):
            return True
    except OSError:
        return False


def _ask(kind: str, url: str, *, answer_seconds: float) -> Iterator[Finding]:
    """A finding where the answer is one of ours, or where none comes."""
    try:
        # an address of this machine, made from the settings
        with urllib.request.urlopen(f"{url}/health/live", timeout=answer_seconds) as answer:  # noqa: S310
            told = json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            told = _read(error.read())
    except (TimeoutError, urllib.error.URLError):
        advice = (
            f"if it is a {kind} it hangs: kill it and start it again; what it had in hand is delivered again"
        )
        yield Finding(f"{kind} {url}", Verdict.WARNING, f"no answer within {answer_seconds:g} s", advice)
        return
    except (OSError, ValueError):
        return
    if not isinstance(told, dict) or not isinstance(told.get("parts"), dict):
        return
    if told.get("status") == "ok":
        yield Finding(f"{kind} {url}", Verdict.OK, "alive")
    else:
        failing = "; ".join(f"{part}: {state}" for part, state in told["parts"].items() if state != "ok")
        yield Finding(f"{kind} {url}", Verdict.WARNING, failing, "start it again")


def _read(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None
