"""Waits until processes answer that they are ready."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.1
_ANSWER_SECONDS = 5.0


def wait_until_ready(
    urls: Sequence[str], *, stopping: threading.Event, patience_seconds: float = PATIENCE_SECONDS
) -> bool:
    """True as soon as all answer `/health/ready`; False when patience ended or `stopping` was set before.

    Args:
        urls: of our own processes, without path.
        stopping: ends the waiting.
        patience_seconds: for all of them together.
    """
    ends_at = time.monotonic() + patience_seconds
    waiting = list(urls)
    while waiting:
        waiting = [url for url in waiting if not _is_ready(url)]
        if waiting and (time.monotonic() > ends_at or stopping.wait(_PAUSE_SECONDS)):
            return False
    return True


def _is_ready(url: str) -> bool:
    try:
        # the address is our own, on the host that the settings name
        with urllib.request.urlopen(f"{url}/health/ready", timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - http only
            return bool(answer.status == 200)  # noqa: PLR2004 - OK
    except (OSError, urllib.error.URLError):
        return False
