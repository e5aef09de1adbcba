"""Work over many items at once, in threads that do not keep the process alive."""

from __future__ import annotations

from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

I = TypeVar("I")  # noqa: E741 - an item
R = TypeVar("R")


def map_in_order(work: Callable[[I], R], items: Sequence[I], *, threads: int) -> Iterator[R]:
    """The result of each item, in order, as soon as it and those before it are there.

    An error comes in the place of its item, after what is running is done; nothing is begun after it. A
    caller that leaves, or is interrupted, waits for nobody: what hangs is left behind, and the process can
    end nevertheless, which threads of `concurrent.futures` would prevent.
    """
    jobs: SimpleQueue[tuple[I, Future[R]]] = SimpleQueue()
    futures: list[Future[R]] = [Future() for _ in items]
    for job in zip(items, futures, strict=True):
        jobs.put(job)
    stopped = Event()
    workers = [
        Thread(target=_work_off, args=(work, jobs, stopped), name=f"evaluate-{number}", daemon=True)
        for number in range(min(threads, len(items)))
    ]
    for worker in workers:
        worker.start()
    try:
        for future in futures:
            yield future.result()
    except Exception:
        for worker in workers:
            worker.join()
        raise
    finally:
        stopped.set()


def _work_off(work: Callable[[I], R], jobs: SimpleQueue[tuple[I, Future[R]]], stopped: Event) -> None:
    while not stopped.is_set():
        try:
            item, future = jobs.get_nowait()
        except Empty:
            return
        try:
            future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001 - raised anew where the result is awaited
            stopped.set()  # what stands before this item has been begun
            future.set_exception(error)
