"""`ragsonde worker`: one worker process."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import warnings
from contextlib import ExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer
from celery import signals
from celery.apps import worker as celery_worker_program
from celery.exceptions import SecurityWarning

from ragsonde.bootstrap.worker import build_worker
from ragsonde.cli.connection_options import BrokerUrlOption, DatabaseUrlOption, DataDirOption
from ragsonde.cli.connections import find_connections
from ragsonde.cli.options import ConfigOption
from ragsonde.cli.schema_check import require_current_schema
from ragsonde.event_log import set_up_logging
from ragsonde.exposition.http import serve
from ragsonde.intake.foreign_queues import list_foreign
from ragsonde.intake.publisher import Publisher
from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.options import JudgeKind
from ragsonde.settings import read_settings
from ragsonde.settings.secrets import TOKEN_CHARACTERS, build_token_reader
from ragsonde.text_redaction import build_cover
from ragsonde.web.host_names import HostNames
from ragsonde_schemas.errors import BrokerLostError, SetupError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celery import Celery

    from ragsonde.bootstrap.worker import WorkerParts
    from ragsonde.cli.connections import Connections
    from ragsonde.settings import Settings

logger = logging.getLogger(__name__)

EXAMPLES = (
    ("ragsonde worker", "on what ragsonde.yaml or the environment names"),
    (
        "ragsonde worker --broker-url amqp://guest:guest@127.0.0.1/ --database-url postgresql://127.0.0.1/ragsonde",
        "on RabbitMQ and Postgres",
    ),
)


def worker(
    *,
    config: ConfigOption = None,
    broker_url: BrokerUrlOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    threads: Annotated[int | None, typer.Option(help="Evaluations run at once.")] = None,
    metrics_port: Annotated[
        int | None, typer.Option(help="First port tried for /metrics and /health.")
    ] = None,
    share_queue: Annotated[
        bool, typer.Option("--share-queue", help="Take from a foreign queue though others consume it too.")
    ] = False,
) -> None:
    """Take traces off the queue, judge and score them.

    One process with a pool of threads; start one for each core. Each serves /metrics, /health/live and
    /health/ready on the first free port from 9321 on. SIGTERM: finishes what runs, gives the rest
    back. SIGQUIT: ends at once; what ran is begun again elsewhere.
    """
    settings = read_settings(
        config,
        options={
            "broker_url": broker_url,
            "database_url": database_url,
            "data_dir": data_dir,
            "threads": threads,
            "ports": {"worker_metrics": metrics_port} if metrics_port is not None else None,
        },
    )
    set_up_logging(level=settings.log_level, log_format=settings.log_format, cover=build_cover(settings))
    connections = find_connections(settings)
    require_current_schema(connections.database_url)
    sys.exit(run_worker(settings, connections, may_share=share_queue))


def run_worker(settings: Settings, connections: Connections, *, may_share: bool) -> int:
    """The exit code of a worker that ran until it was told to stop.

    Raises:
        SetupError: a queue exists with other arguments or has other consumers, or no port is free.
    """
    parts = build_worker(
        settings,
        broker_url=connections.broker_url,
        database_url=connections.database_url,
        version=version("ragsonde"),
    )
    with ExitStack() as stack:
        stack.callback(parts.engine.dispose)
        for outbox in parts.outboxes:
            stack.callback(outbox.close)
        if connections.is_embedded_broker:
            # imported here: a worker on RabbitMQ does not need the embedded extra
            from ragsonde.intake.unacked import worker_presence  # noqa: PLC0415

            stack.enter_context(worker_presence(settings.data_dir, broker_url=connections.broker_url))
        declare_topology(connections.broker_url, foreign=list_foreign(settings.queues), may_share=may_share)
        server = serve(
            settings.host,
            settings.ports.worker_metrics,
            routes=parts.routes,
            read_token=build_token_reader(settings.metrics, key="metrics", fewest=TOKEN_CHARACTERS),
            hosts=HostNames(bound=settings.host, names=settings.host_names),
            allow_remote=settings.insecure or settings.metrics.asks_for_token,
        )
        stack.callback(server.close)
        logger.info("worker_started", extra={"metrics": f"{server.url}/metrics", "threads": settings.threads})
        if any(judge.kind is JudgeKind.LITELLM for judge in settings.judges):
            # seconds that would else count against the first evaluations' deadlines and a stop's grace time
            load_litellm()
        freeze_loaded()
        return consume(parts)


def freeze_loaded() -> None:
    """Takes what is loaded by now out of the garbage collector's sight.

    It lives as long as the process; with litellm each full collection would look at its million objects anew.
    """
    gc.collect()
    gc.freeze()


def declare_topology(broker_url: str, *, foreign: Sequence[str], may_share: bool) -> None:
    """Declares our queues; a broker that is away is waited for by the consumer, which declares them too.

    Raises:
        SetupError: a queue exists with other arguments, or a foreign one has other consumers.
    """
    publisher = Publisher(broker_url)
    try:
        publisher.declare_topology()
        shared = [queue for queue in publisher.look_up(foreign) if queue.consumers]
        if shared and not may_share:
            raise SetupError(
                f"queue {shared[0].name} has {shared[0].consumers} other consumers: each would get a part "
                "of its messages; use a queue of its own, or --share-queue if they are ragsonde's"
            )
    except BrokerLostError as error:
        logger.warning("broker_away", extra={"error": str(error)})
    finally:
        publisher.close()


def consume(parts: WorkerParts) -> int:
    """Runs Celery's worker in this thread until it stops; its exit code."""
    # the warning is about pickle; accept_content takes JSON only
    warnings.filterwarnings("ignore", category=SecurityWarning)

    def leave_logging_alone(**_: object) -> None:
        """Celery sets up logging unless somebody else says that he does."""

    def note_stopping(**_: object) -> None:
        logger.info("worker_stopping")
        parts.app.conf.ragsonde_consumption.on_stopping()
        parts.stopping.set()

    def end_at_once(*_: object) -> None:
        """Celery would wait: threads cannot be stopped. What they work on stays unacked and comes again."""
        logger.warning("worker_quit")
        os._exit(os.EX_TEMPFAIL)

    def take_sigquit(**_: object) -> None:
        """Only now are Celery's own handlers in place."""
        signal.signal(signal.SIGQUIT, end_at_once)

    # it writes `worker: Warm shutdown` past all logging: the event says so
    celery_worker_program.safe_say = lambda *_, **__: None
    signals.setup_logging.connect(leave_logging_alone)
    signals.worker_ready.connect(take_sigquit)
    signals.worker_shutting_down.connect(note_stopping)
    celery_worker = _build_celery_worker(parts.app)
    celery_worker.start()
    return int(celery_worker.exitcode or 0)


def _build_celery_worker(app: Celery) -> Celery.Worker:
    return app.Worker(
        quiet=True,
        loglevel=logging.WARNING,
        without_gossip=True,
        without_mingle=True,
        # of Celery's events, not AMQP's: while it beats, the events' exchange is declared and written to
        without_heartbeat=True,
    )
