"""`ragsonde receiver`: traces come in over HTTP and go on the queue."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.broker_connection import open_publisher
from ragsonde.cli.connection_options import BrokerUrlOption, DataDirOption
from ragsonde.cli.connections import find_broker_url
from ragsonde.cli.options import ConfigOption
from ragsonde.cli.stopping import stopping_on_signals
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.event_log import set_up_logging
from ragsonde.exposition.health import Health, Heartbeat
from ragsonde.exposition.registry import Series
from ragsonde.exposition.routes import METRICS, build_routes
from ragsonde.exposition.series import (
    BUILD,
    CONFIG,
    RECEIVER_MESSAGES,
    RECEIVER_REQUESTS,
    RECEIVER_SECONDS,
    RECEIVER_SERIES,
)
from ragsonde.intake.publisher import Publisher
from ragsonde.receiver.answers import OTLP_PATH, TRACES_PATH
from ragsonde.receiver.any_traces import AnyTraces
from ragsonde.receiver.application import Application
from ragsonde.receiver.broker_watch import BrokerWatch
from ragsonde.receiver.exchange_log import ExchangeLog
from ragsonde.receiver.gate import POSTED_PATHS, Gate
from ragsonde.receiver.http_server import THREADS, HttpReceiver
from ragsonde.receiver.otlp_traces import OtlpTraces
from ragsonde.receiver.publishing import SharedPublishers
from ragsonde.receiver.request_parser import Reception
from ragsonde.settings import read_settings
from ragsonde.settings.effective import hash_settings
from ragsonde.settings.secrets import build_token_reader
from ragsonde.text_redaction import build_cover
from ragsonde.web.host_names import HostNames

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.receiver.tally import Outcome
    from ragsonde.settings import Settings

logger = logging.getLogger(__name__)

EXAMPLES = (
    ("ragsonde receiver", "OTLP and any known format, on http://127.0.0.1:4318"),
    (
        "RAGSONDE_RECEIVER__TOKEN_FILE=/run/secrets/token ragsonde receiver --host 0.0.0.0",
        "for other machines that show the token",
    ),
    (
        "curl --data-binary @traces.jsonl http://127.0.0.1:4318/traces",
        "post a file; the answer says what was refused",
    ),
)


def receiver(
    *,
    config: ConfigOption = None,
    broker_url: BrokerUrlOption = None,
    data_dir: DataDirOption = None,
    host: Annotated[
        str | None, typer.Option(help="Address to bind; others than loopback need a token.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to bind; default: 4318.")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Bind any address without a token: the network is trusted.")
    ] = False,
) -> None:
    """Receive traces over HTTP and put them on the queue, confirmed.

    POST /v1/traces takes OTLP in protobuf or JSON, as every OpenTelemetry exporter sends it. POST /traces
    takes any known format: one message, a JSON array, or JSON lines. A full queue is answered with 503.
    Serves /metrics, /health/live and /health/ready as well. SIGTERM: finishes the requests in flight.
    """
    settings = read_settings(
        config,
        options={
            "broker_url": broker_url,
            "data_dir": data_dir,
            "receiver": {"host": host} if host else None,
            "ports": {"receiver": port} if port else None,
            "insecure": insecure or None,
        },
    )
    set_up_logging(level=settings.log_level, log_format=settings.log_format, cover=build_cover(settings))
    run_receiver(settings, broker_url=find_broker_url(settings))


def run_receiver(settings: Settings, *, broker_url: str) -> None:
    """Runs a receiver until SIGTERM or SIGINT.

    Raises:
        ConfigError: the token's file cannot be read.
        SetupError: the port is taken.
    """
    series = Series(RECEIVER_SERIES)
    series.state(CONFIG, hash=hash_settings(settings))
    series.state(BUILD, version=version("ragsonde"))
    heartbeat = Heartbeat()
    with ExitStack() as stack:
        publishers = [open_publisher(broker_url, stack) for _ in range(THREADS)]
        checked_broker = open_publisher(broker_url, stack)
        watch = BrokerWatch(build_broker_check(checked_broker))
        pages = build_routes(
            series,
            live=Health({"loop": heartbeat.check}),
            ready=Health({"broker": watch.find_problem}),
        )
        tally = SeriesTally(series)
        limits = DecodingLimits(body_bytes=settings.max_body_bytes)
        shared = SharedPublishers(publishers, is_away=watch.is_away)
        log = ExchangeLog(known_paths=(*POSTED_PATHS, *pages), tally=tally)
        server = HttpReceiver(
            Application(
                receivers={
                    OTLP_PATH: OtlpTraces(publisher=shared, tally=tally, limits=limits).receive,
                    TRACES_PATH: AnyTraces(publisher=shared, tally=tally, limits=limits).receive,
                },
                pages=pages,
                log=log,
            ),
            reception=Reception(
                gate=Gate(
                    pages=tuple(pages),
                    max_body_bytes=settings.max_body_bytes,
                    read_token=build_token_reader(settings.receiver, key="receiver"),
                    hosts=HostNames(bound=settings.receiver.host or settings.host, names=settings.host_names),
                ),
                log=log,
            ),
            host=settings.receiver.host or settings.host,
            port=settings.ports.receiver,
            on_turn=heartbeat.beat,
        )
        with watch, stopping_on_signals(server.stop):
            logger.info(
                "receiver_started",
                extra={"otlp": f"{server.url}{OTLP_PATH}", "metrics": f"{server.url}{METRICS}"},
            )
            server.run()


class SeriesTally:
    """Counts in the receiver's series."""

    def __init__(self, series: Series) -> None:
        self._series = series

    def count_request(self, *, path: str, status: int, seconds: float) -> None:
        """One request was answered."""
        self._series.add(RECEIVER_REQUESTS, path=path, status=str(status))
        if path in POSTED_PATHS:
            self._series.observe(RECEIVER_SECONDS, seconds, path=path)

    def count_messages(self, outcome: Outcome, number: int = 1) -> None:
        """So many messages came to this."""
        if number:
            self._series.add(RECEIVER_MESSAGES, number, outcome=outcome.value)


def build_broker_check(publisher: Publisher) -> Callable[[], str | None]:
    """Tells what is wrong with the broker, None where nothing is; within seconds, even where it hangs."""

    def look() -> None:
        publisher.count_messages()

    health = Health({"broker": look})
    return lambda: health.find_problems().get("broker")
