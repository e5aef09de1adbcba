"""`ragsonde monitor`: what keeps the deployment in order and shows it."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer
from sqlalchemy import text

from ragsonde.bootstrap.assignments import build_assignments
from ragsonde.bootstrap.clock import SystemClock
from ragsonde.cli.alert_sinks import build_alert_sinks
from ragsonde.cli.broker_connection import open_publisher
from ragsonde.cli.connection_options import BrokerUrlOption, DatabaseUrlOption, DataDirOption
from ragsonde.cli.connections import find_connections
from ragsonde.cli.ledger import find_kept_days
from ragsonde.cli.options import ConfigOption
from ragsonde.cli.page import open_page
from ragsonde.cli.schema_check import require_current_schema
from ragsonde.cli.stopping import stopping_on_signals
from ragsonde.event_log import set_up_logging
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.health import Health
from ragsonde.exposition.registry import Series
from ragsonde.exposition.routes import METRICS, build_routes
from ragsonde.exposition.series import BUILD, CONFIG, MONITOR_SERIES
from ragsonde.intake.publisher import Publisher
from ragsonde.judging.table import build_judges
from ragsonde.label_naming import WantedNames
from ragsonde.monitor.backfill_jobs import BACKFILL_JOB_NAMES, BackfillChores
from ragsonde.monitor.check_jobs import CHECK_JOB_NAMES, CheckChores
from ragsonde.monitor.chores import JOB_NAMES, Chores, MonitorOptions
from ragsonde.monitor.judge_jobs import JUDGE_JOB_NAMES, JudgeChores
from ragsonde.monitor.label_jobs import LABEL_JOB_NAMES, LabelChores
from ragsonde.monitor.ledger_jobs import LEDGER_JOB_NAMES, LedgerChores
from ragsonde.monitor.loop import Monitor
from ragsonde.monitor.upkeep import UPKEEP_JOB_NAMES, Upkeep, build_text_rule, list_retention
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import load_judge_kinds
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings
from ragsonde.settings.effective import hash_settings
from ragsonde.storage.engine import build_engine, translating_losses
from ragsonde.storage.label_budget import PostgresLabelNames
from ragsonde.storage.locks import try_job_lock
from ragsonde.text_redaction import build_cover
from ragsonde.watching.arming_jobs import ARMING_JOB_NAMES, ArmingChores
from ragsonde.watching.block_jobs import BLOCK_JOB_NAMES, BlockChores
from ragsonde.watching.gauge_jobs import REGRESSION_GAUGE_JOB_NAMES, RegressionGaugeChores
from ragsonde.watching.jobs import REGRESSION_JOB_NAMES, RegressionChores
from ragsonde.watching.notice_jobs import AlertNoticeChores, name_job
from ragsonde.watching.notices import NoticeLinks
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.errors import DatabaseLostError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.cli.connections import Connections
    from ragsonde.settings import Settings

logger = logging.getLogger(__name__)

EXAMPLES = (
    ("ragsonde monitor", "on what ragsonde.yaml or the environment names"),
    ("ragsonde monitor --port 8400", "on another port"),
)


def monitor(
    *,
    config: ConfigOption = None,
    broker_url: BrokerUrlOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    port: Annotated[
        int | None, typer.Option(help="First port tried for the page, /metrics and /health.")
    ] = None,
) -> None:
    """Sweep due evaluations, close traces, keep partitions, show queues and counts.

    One a deployment is enough; a second one takes over what the first no
    longer does. Serves the page for people, /metrics, /health/live and
    /health/ready on the first free port from 8321 on. Waits for a broker or a database that is away.
    """
    settings = read_settings(
        config,
        options={
            "broker_url": broker_url,
            "database_url": database_url,
            "data_dir": data_dir,
            "ports": {"monitor": port} if port is not None else None,
        },
    )
    set_up_logging(level=settings.log_level, log_format=settings.log_format, cover=build_cover(settings))
    connections = find_connections(settings)
    try:
        require_current_schema(connections.database_url)
    except DatabaseLostError as error:
        logger.warning("database_away", extra={"error": str(error)})
    run_monitor(settings, connections)


def run_monitor(settings: Settings, connections: Connections) -> None:
    """Runs a monitor until SIGTERM or SIGINT.

    Raises:
        SetupError: no port is free.
    """
    jobs = (
        *(*JOB_NAMES, *UPKEEP_JOB_NAMES, *JUDGE_JOB_NAMES, *CHECK_JOB_NAMES),
        *(*BACKFILL_JOB_NAMES, *LEDGER_JOB_NAMES, *LABEL_JOB_NAMES, *BLOCK_JOB_NAMES),
        *(
            *REGRESSION_JOB_NAMES,
            *REGRESSION_GAUGE_JOB_NAMES,
            *ARMING_JOB_NAMES,
            *map(name_job, settings.regression.alert_sinks),
        ),
    )
    with ExitStack() as stack:
        engine = build_engine(connections.database_url, application_name="ragsonde-monitor")
        stack.callback(engine.dispose)
        series = Series(
            MONITOR_SERIES,
            known=KnownLabels(jobs=jobs),
            find_names=PostgresLabelNames(engine, clock=SystemClock()).find,
        )
        series.state(CONFIG, hash=hash_settings(settings))
        series.state(BUILD, version=version("ragsonde"))
        # apart: jobs that begin together would hold all connections of one engine, each waiting for another
        locks = build_engine(connections.database_url, application_name="ragsonde-monitor-locks")
        stack.callback(locks.dispose)
        # six connections: a slow publish keeps no trace open, and hides neither how deep the queues are nor
        # that the broker is there
        sweeping_broker, closing_broker, counting_broker, checking_broker, checked_broker, filling_broker = (
            open_publisher(connections.broker_url, stack) for _ in range(6)
        )
        monitor = Monitor(series=series, clock=SystemClock(), try_lock=lambda name: try_job_lock(locks, name))
        chores = Chores(
            options=MonitorOptions(queued_for_seconds=settings.lease_seconds),
            engine=engine,
            sweeping_broker=sweeping_broker,
            closing_broker=closing_broker,
            counting_broker=counting_broker,
            series=series,
            clock=SystemClock(),
            should_pause=lambda: monitor.is_stopping,
        )
        scorers = build_scorers(settings.scorers, formulas=load_formulas())
        upkeep = Upkeep(
            engine=engine,
            clock=SystemClock(),
            retention_days=list_retention(settings),
            texts=build_text_rule(settings, scorers=scorers),
            should_pause=lambda: monitor.is_stopping,
        )
        judges = build_judges(settings.judges, added=load_judge_kinds())
        fingerprints = {name: judge.fingerprint for name, judge in judges.items()}
        judge_chores = JudgeChores(
            engine=engine,
            judges=settings.judges,
            fingerprints=fingerprints,
            series=series,
            clock=SystemClock(),
        )
        check_chores = CheckChores(
            engine=engine,
            judges=settings.judges,
            fingerprints=fingerprints,
            paid=frozenset(name for name, judge in judges.items() if not judge.is_free),
            broker=checking_broker,
            queued_for_seconds=settings.lease_seconds,
            series=series,
            clock=SystemClock(),
        )
        assignments = build_assignments(settings, scorers=scorers, judges=judges)
        backfill_chores = BackfillChores(
            engine=engine,
            assignments=assignments,
            broker=filling_broker,
            queued_for_seconds=settings.lease_seconds,
            series=series,
            clock=SystemClock(),
            should_pause=lambda: monitor.is_stopping,
        )
        ledger_chores = LedgerChores(
            engine=engine,
            series=series,
            clock=SystemClock(),
            kept_days=find_kept_days(settings),
            verdict_days=settings.retention_days.assessment,
        )
        label_chores = LabelChores(
            engine=engine,
            clock=SystemClock(),
            wanted=WantedNames(
                apps=tuple(read_app(app) for app in settings.series.apps),
                environments=settings.series.environments,
            ),
        )
        block_chores = BlockChores(
            engine=engine,
            series=series,
            clock=SystemClock(),
            kept_days=find_block_days(settings),
            tags=settings.stratum_tags,
            should_pause=lambda: monitor.is_stopping,
        )
        regression_chores = RegressionChores(
            engine=engine,
            clock=SystemClock(),
            options=settings.regression,
            targets=frozenset(one.instance for one in scorers if one.direction is Direction.TARGET),
            should_pause=lambda: monitor.is_stopping,
        )
        regression_gauge_chores = RegressionGaugeChores(
            engine=engine, series=series, clock=SystemClock(), page_days=settings.regression.page_days
        )
        alert_notice_chores = AlertNoticeChores(
            engine=engine,
            clock=SystemClock(),
            series=series,
            sinks=build_alert_sinks(settings.regression),
            links=NoticeLinks(page=settings.links.page, trace=settings.links.trace),
            should_pause=lambda: monitor.is_stopping,
        )
        arming_chores = ArmingChores(
            engine=engine,
            assignments=assignments,
            options=settings.regression,
            clock=SystemClock(),
            should_pause=lambda: monitor.is_stopping,
        )
        routes = build_routes(
            series,
            live=Health({"loop": monitor.find_stopped_loop}),
            ready=Health(
                {"broker": lambda: _check_broker(checked_broker), "postgres": lambda: _check_postgres(engine)}
            ),
        )
        server = open_page(
            settings,
            engine=engine,
            clock=SystemClock(),
            scorers=scorers,
            routes=routes,
            read_series=series.read,
        )
        stack.callback(server.close)
        logger.info("monitor_started", extra={"page": f"{server.url}/", "metrics": f"{server.url}{METRICS}"})
        with stopping_on_signals(monitor.stop):
            chore_lists = (
                *(chores, upkeep, judge_chores, check_chores),
                *(backfill_chores, ledger_chores, label_chores, block_chores),
                *(regression_chores, regression_gauge_chores, arming_chores, alert_notice_chores),
            )
            monitor.run([job for one in chore_lists for job in one.build_jobs()])


def find_block_days(settings: Settings) -> int:
    """For how many days all is kept that scores are counted from, and their counts."""
    days = settings.retention_days
    return min(find_kept_days(settings), days.assessment, days.score_block)


def _check_broker(broker: Publisher) -> None:
    broker.count_messages()


def _check_postgres(engine: Engine) -> None:
    with translating_losses(), engine.connect() as connection:
        connection.execute(text("SELECT 1"))
