"""Calls functions that may hang: a call that takes too long is left behind, and its caller goes on."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LEFT_BEHIND_AT_MOST = 8
"""Calls of one function that hang: while there are so many, it is not called again."""


class CallError(Exception):
    """A call gave no result; its message is for people and holds nothing of what the function said."""


class TimedCalls:
    """Runs each call in a thread of its own.

    Args:
        left_behind_at_most: of one function.
    """

    def __init__(self, *, left_behind_at_most: int = LEFT_BEHIND_AT_MOST) -> None:
        self._at_most = left_behind_at_most
        self._left_behind: Counter[str] = Counter()
        self._lock = threading.Lock()

    def call(
        self, function: Callable[..., Any], *arguments: object, name: str, timeout_seconds: float
    ) -> Any:  # noqa: ANN401 - whatever the user's function gives
        """What the function gave; a coroutine is run to its end.

        Args:
            function: the user's.
            arguments: what it is called with.
            name: its name in the settings, under which its hanging calls are counted.
            timeout_seconds: how long it is waited for.

        Raises:
            CallError: it raised, took too long, or too many earlier calls of it still hang.
        """
        with self._lock:
            hanging = self._left_behind[name]
        if hanging >= self._at_most:
            raise CallError(f"is not called: {hanging} earlier calls of it still hang")
        call = _Call(function, arguments)
        thread = threading.Thread(target=self._run, args=(call, name), name=f"call {name}", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            raise CallError("is not called: no thread could be started") from error
        call.done.wait(timeout_seconds)
        with self._lock:
            if not call.is_over:
                call.is_left_behind = True
                self._left_behind[name] += 1
        if call.is_left_behind:
            raise CallError(f"took longer than {timeout_seconds:g} s")
        if call.raised is not None:
            raise CallError(f"raised {type(call.raised).__name__}") from call.raised
        return call.result

    def _run(self, call: _Call, name: str) -> None:
        call.run()
        with self._lock:
            call.is_over = True
            if call.is_left_behind:
                self._left_behind[name] -= 1
        call.done.set()


class _Call:
    """One call: what it gave or raised, once it is over."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[object, ...]) -> None:
        self._function = function
        self._arguments = arguments
        self.done = threading.Event()
        self.is_over = False
        self.is_left_behind = False
        self.result: Any = None
        self.raised: BaseException | None = None

    def run(self) -> None:
        """Calls the function; whatever it raises, SystemExit too, is kept."""
        try:
            result = self._function(*self._arguments)
            self.result = asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result
        except BaseException as error:  # noqa: BLE001 - user's code: nothing it raises may leave the thread
            self.raised = error


async def _wait_for(awaitable: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever the user's coroutine gives
    return await awaitable
