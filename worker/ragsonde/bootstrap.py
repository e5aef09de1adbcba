"""Wires the parts of a worker process together, once, from settings."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from ragsonde.celery_app import build_celery_app
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.health import Health
from ragsonde.exposition.registry import Series
from ragsonde.exposition.routes import build_routes
from ragsonde.exposition.series import (
    BUILD,
    CONFIG,
    DATABASE_LOST,
    SCORE_SINK_DROPPED,
    SCORE_SINK_SENT,
    WORKER_SERIES,
)
from ragsonde.exposition.sink import PrometheusSink
from ragsonde.extraction.mapping import Mappings
from ragsonde.intake.consumption import Consumption
from ragsonde.intake.delivery_guard import DeliveryGuard, log_trace_fault
from ragsonde.intake.isolation import ThreadIsolation
from ragsonde.judging.cover import choose_cover
from ragsonde.judging.llm_chain import LlmChain
from ragsonde.judging.model_prices import check_prices
from ragsonde.judging.surroundings import Surroundings
from ragsonde.judging.table import build_judges
from ragsonde.monitor.upkeep import build_text_rule
from ragsonde.pipeline.assignments import Assignment, list_unknown_scorers
from ragsonde.pipeline.stages import STAGES, Stages
from ragsonde.plugins.formats import load_formats
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import load_judge_kinds
from ragsonde.plugins.sinks import load_sink_kinds
from ragsonde.private_data import build_privacy, build_redaction_counter
from ragsonde.redaction.covered_judge import CoveredJudge
from ragsonde.redaction.envelopes import ProtectedParking
from ragsonde.redaction.wordless import WordlessJudge
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde.scoring.table import build_scorers
from ragsonde.settings.effective import hash_settings
from ragsonde.sinks.exporting import ExportingSink
from ragsonde.sinks.table import build_exports
from ragsonde.storage.backfills import reads_files
from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.check_runs import PostgresCheckStore
from ragsonde.storage.engine import build_engine, ping
from ragsonde.storage.judge_states import PostgresJudgeStates
from ragsonde.storage.label_budget import PostgresLabelNames
from ragsonde.storage.parking_store import PostgresParkingStore
from ragsonde.storage.sample_rates import PostgresSampleRates
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.suspect_store import PostgresSuspectStore
from ragsonde.storage.text_keeping import StoredTexts
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde.tasks import register_tasks
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.label_names import NO_NAMES
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from celery import Celery
    from sqlalchemy import Engine

    from ragsonde.exposition.http import Route
    from ragsonde.ports import Clock, Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.settings import Settings
    from ragsonde.sinks.outbox import Outbox
    from ragsonde_schemas.label_names import LabelNames


TRUSTED_SECONDS = 1.0
"""A ping costs a fifth of a short transaction; a worker, whose guard tries again, can do without most."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present, aware, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()


@dataclass(frozen=True, kw_only=True)
class WorkerParts:
    """A worker process, wired and not yet started.

    Attributes:
        app: Celery's, with our tasks.
        routes: what its HTTP server answers.
        outboxes: of the score sinks, to be closed when nothing is evaluated any more.
        stopping: to be set when the process is asked to stop.
    """

    app: Celery
    engine: Engine
    stages: Stages
    routes: Mapping[str, Route]
    outboxes: tuple[Outbox, ...]
    stopping: threading.Event


def build_worker(
    settings: Settings, *, broker_url: str, database_url: str, version: str, clock: Clock | None = None
) -> WorkerParts:
    """The parts of a worker process; nothing connects before it is used.

    Args:
        settings: as read.
        broker_url: where messages come from.
        database_url: where all is stored.
        version: of ragsonde, as shown.
        clock: None: the machine's.

    Raises:
        ConfigError, InputError: a scorer, a judge or a URL is configured wrong.
    """
    clock, consumption, stopping = clock or SystemClock(), Consumption(), threading.Event()
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    limits = settings.message_limits
    engine = build_engine(database_url, application_name="ragsonde-worker", trusted_seconds=TRUSTED_SECONDS)
    check_prices(settings.judges)
    judge_states = PostgresJudgeStates(engine, clock=clock)
    privacy = build_privacy(settings, engine=engine, clock=clock)
    judges = build_judges(
        settings.judges,
        surroundings=Surroundings(
            states=judge_states,
            on_circuit=lambda judge, model, is_open: prometheus.on_circuit(judge, model, is_open=is_open),
        ),
        scorers=scorers,
        added=load_judge_kinds(),
        cover=choose_cover(privacy.redaction),
    )
    series = build_worker_series(
        settings,
        scorers=scorers,
        judges=judges,
        version=version,
        find_names=PostgresLabelNames(engine, clock=clock).find,
    )
    fingerprints = {name: judge.fingerprint for name, judge in judges.items()}
    privacy = replace(privacy, on_redacted=build_redaction_counter(settings, series))
    parking = ProtectedParking(PostgresParkingStore(engine, clock=clock), privacy=privacy, limits=limits)
    prometheus = PrometheusSink(series, clock=clock, fingerprints=fingerprints)
    exports = build_exports(
        settings.score_sinks,
        added=load_sink_kinds(),
        on_sent=lambda name, number: series.add(SCORE_SINK_SENT, number, sink=name),
        on_dropped=lambda name, number: series.add(SCORE_SINK_DROPPED, number, sink=name),
    )
    for export in exports:
        for counter in (SCORE_SINK_SENT, SCORE_SINK_DROPPED):
            series.add(counter, 0.0, sink=export.outbox.name)
    sink = ExportingSink(prometheus, exports, clock=clock) if exports else prometheus
    isolation = ThreadIsolation()
    guard = DeliveryGuard(
        parking=parking,
        suspects=PostgresSuspectStore(engine),
        sink=sink,
        isolation=isolation,
        stopping=stopping,
        on_database=build_database_listener(consumption, series),
    )
    texts = build_text_rule(settings, scorers=scorers)
    asked: Mapping[str, Judge] = judges
    if texts.keep is StoredTexts.NONE:
        asked = {name: WordlessJudge(judge) for name, judge in judges.items()}
    if privacy.redaction is not None:
        asked = {name: CoveredJudge(judge, privacy.redaction) for name, judge in asked.items()}
    stages = Stages(
        scorers=scorers,
        assignments=build_assignments(settings, scorers=scorers, judges=asked),
        sample_rates=PostgresSampleRates(
            engine,
            clock=clock,
            configured={options.name: options.sample for options in settings.judges},
        ),
        budgets=PostgresBudgets(
            engine,
            clock=clock,
            limits={one.name: one.budget.limits for one in settings.judges if one.budget is not None},
            on_pause=judge_states.pause,
        ),
        checks=PostgresCheckStore(engine, clock=clock, lease_seconds=settings.lease_seconds),
        traces=PostgresTraceStore(
            engine,
            clock=clock,
            lease_seconds=settings.lease_seconds,
            retention_days=settings.retention_days.trace,
            texts=texts,
        ),
        spans=PostgresSpanBuffer(
            engine,
            clock=clock,
            times=settings.assembly,
            lease_seconds=settings.lease_seconds,
            retention_days=settings.retention_days.trace,
            span_retention_days=settings.retention_days.span,
        ),
        parking=parking,
        sink=sink,
        clock=clock,
        isolation=isolation,
        formats=load_formats(),
        mappings=Mappings(settings.extraction),
        resolver=UserCodeResolver(settings.extraction, limits=limits),
        privacy=privacy,
        limits=limits,
        retention_days=settings.retention_days.trace,
        deadline_seconds=settings.deadline_seconds,
        insist=guard.insist,
        may_raise=settings.allow_message_overrides,
        on_fault=log_trace_fault,
    )
    app = build_celery_app(settings, broker_url=broker_url)
    app.conf.ragsonde_consumption = consumption
    register_tasks(
        app,
        stages=stages,
        guard=guard,
        in_flight=series.count_in_flight,
        reads_files=partial(reads_files, engine),
    )
    return WorkerParts(
        app=app,
        engine=engine,
        stages=stages,
        routes=build_routes(
            series,
            live=Health({"consumer": lambda: None if consumption.is_alive else "the loop stands still"}),
            ready=Health({"broker": lambda: _check_broker(consumption), "postgres": lambda: ping(engine)}),
        ),
        outboxes=tuple(export.outbox for export in exports),
        stopping=stopping,
    )


def build_assignments(
    settings: Settings, *, scorers: tuple[Scorer, ...], judges: Mapping[str, Judge]
) -> dict[str, Assignment]:
    """Which traces each judge looks at, and for which scorers.

    Raises:
        ConfigError: a judge names a scorer that is not configured.
    """
    problems = []
    assignments = {}
    for place, options in enumerate(settings.judges):
        known = {scorer.instance: scorer for scorer in scorers}
        names = known if options.scorers is None else options.scorers
        problems += list_unknown_scorers(options.scorers, known=known, place=place)
        chosen = tuple(scorer for scorer in scorers if scorer.instance in names)
        assignments[options.name] = Assignment(
            judge=judges[options.name], scorers=chosen, match=options.match
        )
    if problems:
        raise ConfigError(*problems)
    return assignments


def build_database_listener(consumption: Consumption, series: Series) -> Callable[[bool], None]:
    """What is told whether Postgres answers: consumption pauses while it does not, each loss is counted."""

    def hear(is_back: bool) -> None:  # noqa: FBT001 - the one fact that is told
        consumption.on_database(is_back)
        if not is_back:
            series.add(DATABASE_LOST)

    return hear


def build_worker_series(
    settings: Settings,
    *,
    scorers: Sequence[Scorer],
    judges: Mapping[str, Judge],
    version: str,
    find_names: Callable[[], LabelNames] = lambda: NO_NAMES,
) -> Series:
    """The series of a worker, its counters born at 0 for all that is configured."""
    labels = {name: judge_label(name, judge.fingerprint) for name, judge in judges.items()}
    series = Series(
        WORKER_SERIES,
        known=KnownLabels(
            judges=tuple(labels.values()),
            fallbacks=tuple(
                judge_label(name, fingerprint)
                for name, judge in judges.items()
                if isinstance(judge, LlmChain)
                for fingerprint in judge.fallback_fingerprints
            ),
            models=tuple(
                dict.fromkeys(
                    (labels[one.name], model)
                    for one in settings.judges
                    for model in (one.model, *(fallback.model for fallback in one.fallbacks))
                    if model
                )
            ),
            scorers=tuple(
                scorer_label(scorer.instance, version) for scorer in scorers for version in scorer.versions
            ),
            formats=load_formats().names,
            stages=STAGES,
            rules=Mappings(settings.extraction).list_rules(),
        ),
        find_names=find_names,
    )
    series.state(CONFIG, hash=hash_settings(settings))
    series.state(BUILD, version=version)
    return series


def _check_broker(consumption: Consumption) -> str | None:
    return None if consumption.is_connected else "not connected to the broker"
