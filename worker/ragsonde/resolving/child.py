"""A process that runs users' functions, seen from the one that starts, asks and kills it."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, cast

from ragsonde.resolving.user_process import LOADED
from ragsonde_schemas.errors import ConfigError, ExtractionError, RagsondeError, SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.resolving.question import Question

LOADING_SECONDS = 60.0
"""How long importing the users' modules may take."""

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from ragsonde.resolving.user_process import main; main()"
)


class ChildEndedError(RagsondeError):
    """The process ended while it was asked.

    Attributes:
        was_alone: only one question was open, so that its function is to blame.
    """

    def __init__(self, how: str, *, was_alone: bool) -> None:
        self.was_alone = was_alone
        super().__init__(how)


class Child:
    """A started process; safe for threads.

    Raises:
        ConfigError: functions that cannot be found or imported.
        SetupError: it did not begin, or not in time.
    """

    def __init__(
        self,
        places: Mapping[str, str],
        *,
        limits: DecodingLimits,
        loading_seconds: float = LOADING_SECONDS,
    ) -> None:
        """Starts the process and waits until the functions are loaded.

        Args:
            places: the functions' names, each with where it is set.
            limits: of what a function may give.
            loading_seconds: how long that may take.
        """
        self._lock, self._ending = threading.Lock(), threading.Lock()
        self._numbers = count(LOADED + 1)
        loaded = _Reply()
        self._open = {LOADED: loaded}
        self._late: dict[int, float] = {}
        self._is_over = False
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-c", _PROGRAM, json.dumps(list(map(str, sys.path)))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C at the terminal ends us, and the process by its closed pipe
        )
        self._outbox.put(pickle.dumps((dict(places), limits)))
        for work in (self._write, self._read):
            threading.Thread(target=work, name="user code", daemon=True).start()
        try:
            self._wait_until_loaded(loaded, loading_seconds)
        except BaseException:
            self.stop()
            raise

    @property
    def late_seconds(self) -> list[float]:
        """Of each call that was given up and still runs: for how long it has been."""
        now = time.monotonic()
        with self._lock:
            return [now - given_up_at for given_up_at in self._late.values()]

    @property
    def is_over(self) -> bool:
        """True when the process has ended."""
        return self._is_over

    def ask(self, question: Question) -> Any:  # noqa: ANN401 - by the field
        """The answer.

        Raises:
            ExtractionError: there is none: the function failed, or took too long and still runs.
            ChildEndedError: the process ended first.
        """
        reply = _Reply()
        with self._lock:
            number = next(self._numbers)
            self._open[number] = reply
            if self._is_over:
                reply.done.set()
        self._outbox.put(pickle.dumps((number, question)))
        reply.done.wait(question.timeout_seconds)
        with self._lock:
            del self._open[number]
            is_late = not reply.done.is_set()
            if is_late:
                self._late[number] = time.monotonic()
        if is_late:
            raise ExtractionError(f"{question.label} took longer than {question.timeout_seconds:g} s")
        if reply.value is None:
            raise ChildEndedError(self._describe_end(), was_alone=reply.was_alone)
        value = pickle.loads(reply.value)  # noqa: S301 - our own program wrote it
        if not reply.is_answer:
            raise ExtractionError(value)
        return value

    def stop(self) -> None:
        """Kills the process with all that it started, and waits for its end."""
        with self._ending:
            if self._process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._outbox.put(None)

    def _wait_until_loaded(self, loaded: _Reply, loading_seconds: float) -> None:
        if not loaded.done.wait(loading_seconds):
            raise SetupError(
                f"importing the functions of `extraction` took longer than {loading_seconds:g} s: "
                "keep modules from connecting or computing when they are imported"
            )
        with self._lock:
            del self._open[LOADED]
        if loaded.value is None:
            raise SetupError(
                f"the process for the functions of `extraction` {self._describe_end()} at its start"
            )
        if not loaded.is_answer:
            raise ConfigError(*pickle.loads(loaded.value))  # noqa: S301 - our own program wrote it

    def _describe_end(self) -> str:
        self.stop()
        code = self._process.returncode
        return f"ended with {signal.Signals(-code).name if code < 0 else f'code {code}'}"

    def _write(self) -> None:
        pipe = cast("BinaryIO", self._process.stdin)
        with suppress(OSError):  # it has ended, which the reader tells
            while (message := self._outbox.get()) is not None:
                pipe.write(message)
                pipe.flush()
        with suppress(OSError):
            pipe.close()

    def _read(self) -> None:
        with cast("BinaryIO", self._process.stdout) as pipe:
            while True:
                try:
                    number, is_answer, value = pickle.load(pipe)  # noqa: S301 - our own program wrote it
                except (EOFError, OSError, pickle.UnpicklingError):
                    break
                with self._lock:
                    self._late.pop(number, None)
                    reply = self._open.get(number)
                    if reply is not None:
                        reply.value, reply.is_answer = value, is_answer
                        reply.done.set()
        self.stop()
        with self._lock:
            self._is_over = True
            left = list(self._open.values())
        for reply in left:
            reply.was_alone = len(left) == 1
            reply.done.set()


class _Reply:
    """What comes back for one question; no value where the process ended before."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.value: bytes | None = None
        self.is_answer = False
        self.was_alone = False
