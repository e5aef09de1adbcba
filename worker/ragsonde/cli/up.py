"""`ragsonde up`: the embedded servers, a worker, a monitor and a receiver, as one process tree."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ragsonde.cli.connection_options import BrokerUrlOption, DatabaseUrlOption, DataDirOption
from ragsonde.cli.connections import Connections, find_connections
from ragsonde.cli.demo_history import load_history
from ragsonde.cli.demo_traffic import count_stored, publish_demo
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.free_port import find_free_port
from ragsonde.cli.live_table import show_live
from ragsonde.cli.options import ConfigOption
from ragsonde.cli.program import name_command
from ragsonde.cli.readiness import wait_until_ready
from ragsonde.cli.terminal import make_console, show, write_note
from ragsonde.plugins.formulas import load_formulas
from ragsonde.scoring.table import build_scorers
from ragsonde.servers.process_tree import Child, FinalExitError, ProcessTree
from ragsonde.servers.stack import EmbeddedStack
from ragsonde.settings import read_settings
from ragsonde.storage.engine import build_engine
from ragsonde.storage.migrations import migrate
from ragsonde.storage.partitions import ensure_partitions
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ragsonde.servers.process_event import ProcessEvent
    from ragsonde.settings import Settings

EXAMPLES = (
    (
        "ragsonde up --demo",
        "try it: an invented shop, its last two weeks, and a fault that the monitor finds",
    ),
    ("ragsonde up --data-dir /var/lib/my-ragsonde --workers 2", "data elsewhere, one worker a core"),
)

_SAID_BY_US = "ragsonde: "
"""How the lines of a command that failed begin."""


def up(
    *,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Load two weeks of an invented shop, and publish its traces of today."),
    ] = False,
    demo_without_fault: Annotated[
        bool, typer.Option("--demo-without-fault", hidden=True, help="The same weeks, and nothing happened.")
    ] = False,
    config: ConfigOption = None,
    broker_url: BrokerUrlOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes; one a core is right.")] = 1,
    metrics_port: Annotated[
        int | None, typer.Option(help="First port tried for a worker's /metrics.")
    ] = None,
    monitor_port: Annotated[
        int | None, typer.Option(help="First port tried for the monitor's /metrics.")
    ] = None,
    receiver_port: Annotated[
        int | None, typer.Option(help="First port tried for traces over HTTP; default: 4318.")
    ] = None,
) -> None:
    """Start everything here: Postgres and Valkey from wheels, a worker, a monitor, a receiver.

    The data stays in ./ragsonde-data. Ctrl-C stops everything. Point an OpenTelemetry exporter at the address
    that is printed, and its traces are scored. With --broker-url and --database-url (or
    RAGSONDE_BROKER_URL, RAGSONDE_DATABASE_URL) RabbitMQ and Postgres of yours are used instead. What dies is
    started again; what refuses its settings ends it all, with its message and exit code 2.
    """
    ports = {"worker_metrics": metrics_port, "monitor": monitor_port, "receiver": receiver_port}
    settings = read_settings(
        config,
        options={
            "broker_url": broker_url,
            "database_url": database_url,
            "data_dir": data_dir,
            "ports": {name: port for name, port in ports.items() if port} or None,
        },
    )
    stopping = threading.Event()
    with ExitStack() as stack:
        stack.enter_context(setting_on_signals(stopping))
        tend: Callable[[], Sequence[ProcessEvent]] = tuple
        if settings.broker_url is None or settings.database_url is None:
            servers = EmbeddedStack(settings.data_dir)
            tend = servers.tend
            write_note(f"starting Postgres and Valkey in {settings.data_dir}")
            servers.start()
            stack.callback(servers.stop)
            for notice in servers.notices:
                write_note(notice)
        connections = find_connections(settings)
        prepare_database(connections.database_url)
        is_demo = demo or demo_without_fault
        if is_demo:
            load_history(
                settings,
                database_url=connections.database_url,
                now=datetime.now(UTC),
                stopping=stopping,
                has_fault=not demo_without_fault,
            )
        processes = plan_processes(settings, config=config, workers=workers)
        onlooker = threading.Thread(
            target=look_on,
            args=(settings, connections, processes),
            kwargs={"is_demo": is_demo, "stopping": stopping},
        )
        stack.callback(onlooker.join)
        stack.callback(stopping.set)
        onlooker.start()
        tree = ProcessTree([process.child for process in processes], tend=tend)
        try:
            tree.run(stopping, on_event=lambda event: write_note(str(event)))
        except FinalExitError as end:
            raise ConfigError(*list_problems(end)) from end
    is_embedded = settings.broker_url is None or settings.database_url is None
    write_note(f"stopped; the data stays in {settings.data_dir}" if is_embedded else "stopped")


def list_problems(end: FinalExitError) -> list[str]:
    """What a process said about the settings that it refused, a line each."""
    told = [line.removeprefix(_SAID_BY_US) for line in end.said if line.startswith(_SAID_BY_US)]
    return [f"{end.name}: {line}" for line in told or end.said[-1:] or (f"ended with code {end.exit_code}",)]


class PlannedProcess(NamedTuple):
    """A child, and where it will answer.

    Attributes:
        takes: what it takes over HTTP, and where: `OTLP http://127.0.0.1:4318/v1/traces`.
    """

    child: Child
    url: str
    takes: str = ""


class Plan(NamedTuple):
    """How one child is called.

    Attributes:
        name: for people.
        command: of the command line.
        option: that names the port.
        host: that it binds.
        first_port: that is tried.
    """

    name: str
    command: str
    option: str
    host: str
    first_port: int


def list_plans(settings: Settings, *, workers: int) -> list[Plan]:
    """The monitor, the receiver and the workers, in the order of starting."""
    host, ports = settings.host, settings.ports
    return [
        Plan("monitor", "monitor", "--port", host, ports.monitor),
        Plan("receiver", "receiver", "--port", settings.receiver.host or host, ports.receiver),
        *(
            Plan(f"worker-{number}", "worker", "--metrics-port", host, ports.worker_metrics)
            for number in range(1, workers + 1)
        ),
    ]


def plan_processes(settings: Settings, *, config: Path | None, workers: int) -> tuple[PlannedProcess, ...]:
    """The monitor, the receiver and the workers, each with a free port of its own.

    Raises:
        SetupError: no port is free.
    """
    environment = build_environment(settings, config=config)
    log_dir = settings.data_dir.resolve() / "log"
    log_dir.mkdir(parents=True, exist_ok=True)
    planned, taken = [], set[int]()
    for plan in list_plans(settings, workers=workers):
        port = find_free_port(plan.host, plan.first_port, taken=taken)
        if any(one not in taken for one in range(plan.first_port, port)):
            write_note(f"{plan.name}: port {plan.first_port} is taken, it listens on {port}")
        taken.add(port)
        child = Child(
            plan.name,
            [sys.executable, "-m", "ragsonde", plan.command, plan.option, str(port)],
            log_path=log_dir / f"{plan.name}.log",
            environment=environment,
            # the deadline of an evaluation, and a little more: what runs may end
            grace_seconds=settings.lease_seconds,
            # with the same settings it would end so again
            final_codes=frozenset({ExitCode.BAD_INPUT}),
        )
        url = _name_address(plan.host, port)
        takes = f"OTLP {url}/v1/traces" if plan.command == "receiver" else ""
        planned.append(PlannedProcess(child, url, takes))
    return tuple(planned)


def _name_address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def build_environment(settings: Settings, *, config: Path | None) -> dict[str, str]:
    """What makes a child read the same settings; secrets go by environment, never by arguments."""
    environment = {**os.environ, "RAGSONDE_DATA_DIR": str(settings.data_dir.resolve())}
    if config is not None:
        environment["RAGSONDE_CONFIG"] = str(config.resolve())
    for name in ("broker_url", "database_url"):
        url = getattr(settings, name)
        if url is not None:
            environment[f"RAGSONDE_{name.upper()}"] = url.get_secret_value()
            environment.pop(f"RAGSONDE_{name.upper()}_FILE", None)
    return environment


def prepare_database(database_url: str) -> None:
    """Brings the schema up to date and makes today's partitions."""
    migrate(database_url)
    engine = build_engine(database_url, application_name="ragsonde-up", pool_size=1)
    try:
        ensure_partitions(engine, today=datetime.now(UTC).date())
    finally:
        engine.dispose()


def look_on(
    settings: Settings,
    connections: Connections,
    processes: Sequence[PlannedProcess],
    *,
    is_demo: bool,
    stopping: threading.Event,
) -> None:
    """Prints the addresses when all is ready, publishes the demo, shows scores until it is all stopped."""
    console = make_console()
    if not wait_until_ready([process.url for process in processes], stopping=stopping):
        if not stopping.is_set():
            write_note("not ready within a minute; the logs under data_dir/log say why")
        return
    for process in processes:
        console.print(show(f"{process.child.name:10} {process.url}/metrics   log {process.child.log_path}"))
    for process in processes:
        if process.child.name == "monitor":
            console.print(
                show(f"page       {process.url}/   scores, worst traces, every trace with its verdicts")
            )
        if process.takes:
            console.print(show(f"traces     {process.takes}   any known format {process.url}/traces"))
    engine = build_engine(connections.database_url, application_name="ragsonde-up", pool_size=1)
    with ExitStack() as stack:
        stack.callback(engine.dispose)
        if is_demo:
            console.print(
                show("DEMO: traces of an invented shop, stored as app demo; nothing of yours", "bold")
            )
            console.print(show(f"{name_command('drop-demo')} removes it with its history and alerts"))
            publisher = threading.Thread(
                target=publish_demo,
                args=(connections.broker_url,),
                kwargs={"stored": count_stored(engine, now=datetime.now(UTC)), "stopping": stopping},
            )
            publisher.start()
            stack.callback(publisher.join)
        console.print(show("Ctrl-C stops everything"))
        scorers = build_scorers(settings.scorers, formulas=load_formulas())
        formulas = {scorer.instance: scorer.formula for scorer in scorers}
        show_live(engine, console, stopping=stopping, formulas=formulas)


@contextmanager
def setting_on_signals(stopping: threading.Event) -> Iterator[None]:
    """Sets the event on SIGINT, SIGTERM and SIGHUP, however often they come."""
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number in usual:
        signal.signal(number, lambda *_: stopping.set())
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
