"""How a process of ours is asked to end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """The first SIGTERM or SIGINT calls `stop`; a second one does what it does to any process."""
    usual = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def begin(*_: object) -> None:
        stop()
        for number, handler in usual.items():
            signal.signal(number, handler)

    for number in usual:
        signal.signal(number, begin)
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
