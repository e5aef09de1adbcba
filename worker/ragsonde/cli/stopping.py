"""How a process of ours is asked to end."""

from __future__ import annotations

import signal
import threading
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


@contextmanager
def keeping_interrupts() -> Iterator[Callable[[float], None]]:
    """Gives a pause, in seconds, that a Ctrl-C ends; also one that came before it and got lost in a library.

    Raises:
        KeyboardInterrupt: by the pause, or wherever the Ctrl-C came, as usual.
    """
    is_asked = threading.Event()
    usual = signal.getsignal(signal.SIGINT)

    def note(*_: object) -> None:
        is_asked.set()
        raise KeyboardInterrupt

    def pause(seconds: float) -> None:
        if is_asked.wait(seconds):
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield pause
    finally:
        signal.signal(signal.SIGINT, usual)
