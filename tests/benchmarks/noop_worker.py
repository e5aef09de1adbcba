"""A worker process whose work is one line in a file: the consumer alone, without the pipeline.

Usage: python noop_worker.py BROKER_URL FILE THREADS WORK_SECONDS
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass, field

from ragsonde.celery_app import build_celery_app
from ragsonde.intake.consumption import Consumption
from ragsonde.intake.publisher import Publisher
from ragsonde.intake.trace_consumer import BURY, EVALUATE, INGEST


@dataclass
class Options:
    threads: int
    queues: tuple[str, ...] = ("ragsonde.traces",)
    prefetch_multiplier: int = 1
    max_body_bytes: int = 1 << 20
    judges: tuple[object, ...] = ()
    consumed: list[str] = field(default_factory=list)


def main() -> None:
    broker_url, path, threads, work_seconds = sys.argv[1:5]
    publisher = Publisher(broker_url)
    publisher.declare_topology()
    publisher.close()
    out = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    working = threading.Event()

    app = build_celery_app(Options(threads=int(threads)), broker_url=broker_url)
    app.conf.ragsonde_consumption = Consumption()

    def record(kind, what):
        os.write(out, f"begin {kind} {what}\n".encode())
        working.wait(float(work_seconds))
        os.write(out, f"{kind} {what}\n".encode())

    @app.task(name=INGEST, shared=False)
    def ingest(envelope):
        record("ingest", envelope.body[:60].decode("utf-8", "replace"))

    @app.task(name=EVALUATE, shared=False)
    def evaluate(key):
        record("evaluate", key)

    @app.task(name=BURY, shared=False)
    def bury(envelope):
        record("bury", envelope.body[:60].decode("utf-8", "replace"))

    worker = app.Worker(loglevel="WARNING", quiet=True)
    worker.start()
    sys.exit(worker.exitcode or 0)


main()
