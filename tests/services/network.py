"""A network of our own between a process and its server: it can be cut, swallow everything, and be slow."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

_HOST = "127.0.0.1"
_CHUNK_BYTES = 64 * 1024
_SECONDS = 10


class Network:
    """A TCP proxy on a port that stays the same.

    Args:
        upstream: the server's port on loopback, or the path of its unix socket.
    """

    def __init__(self, upstream: int | str) -> None:
        self._upstream = upstream
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flows = asyncio.Event()
        self._bytes_a_second: float | None = None
        self._delay_seconds = 0.0
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._listen())
        self._loop.call_soon_threadsafe(self._flows.set)
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._cut())
        self._run(self._end_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Every connection is reset, and new ones are refused."""
        self._run(self._cut())
        try:
            yield
        finally:
            self._run(self._listen())

    @contextmanager
    def black_hole(self) -> Iterator[None]:
        """Nothing comes through in either direction, and nobody is told; afterwards what was sent arrives."""
        self._loop.call_soon_threadsafe(self._flows.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._flows.set)

    @contextmanager
    def slowness(self, *, bytes_a_second: float, delay_seconds: float = 0.0) -> Iterator[None]:
        """Every connection is as slow as this, in each direction."""
        self._bytes_a_second, self._delay_seconds = bytes_a_second, delay_seconds
        try:
            yield
        finally:
            self._bytes_a_second, self._delay_seconds = None, 0.0

    def reset_connections(self) -> None:
        """Every connection is reset; new ones are let in at once."""
        self._run(self._reset())

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, _HOST, self.port, limit=_CHUNK_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _cut(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._reset()

    async def _reset(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _end_tasks(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self._writers.add(to_client)
        try:
            from_server, to_server = await self._connect()
        except OSError:  # the server is away: its client learns it as a reset
            self._drop(to_client)
            return
        self._writers.add(to_server)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(from_client, to_server))
                group.create_task(self._pump(from_server, to_client))
        finally:
            self._drop(to_client)
            self._drop(to_server)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._upstream, int):
            return await asyncio.open_connection(_HOST, self._upstream)
        return await asyncio.open_unix_connection(self._upstream)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                await self._flows.wait()
                if self._bytes_a_second is not None:
                    await asyncio.sleep(self._delay_seconds + len(data) / self._bytes_a_second)
                writer.write(data)
                await writer.drain()
        # either end is the end of both: our servers know no half-closed connection
        writer.close()

    def _drop(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        writer.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_SECONDS)
