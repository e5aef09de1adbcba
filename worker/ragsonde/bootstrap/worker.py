"""Wires the parts of a worker process together, once, from settings."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ragsonde.bootstrap.assignments import build_assignments
from ragsonde.bootstrap.clock import SystemClock
from ragsonde.bootstrap.series import build_worker_series
from ragsonde.bootstrap.sinks import build_sinks
from ragsonde.bootstrap.stores import build_stores
from ragsonde.celery_app import build_celery_app
from ragsonde.exposition.health import Health
from ragsonde.exposition.routes import build_routes
from ragsonde.exposition.series import (
    DATABASE_LOST,
)
from ragsonde.extraction.mapping import Mappings
from ragsonde.intake.consumption import Consumption
from ragsonde.intake.delivery_guard import DeliveryGuard, log_trace_fault
from ragsonde.intake.isolation import ThreadIsolation
from ragsonde.judging.cover import choose_cover
from ragsonde.judging.model_prices import check_prices
from ragsonde.judging.surroundings import Surroundings
from ragsonde.judging.table import build_judges
from ragsonde.monitor.upkeep import build_text_rule
from ragsonde.pipeline.stages import Stages
from ragsonde.plugins.formats import load_formats
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import load_judge_kinds
from ragsonde.private_data import build_privacy, build_redaction_counter
from ragsonde.redaction.covered_judge import CoveredJudge
from ragsonde.redaction.envelopes import ProtectedParking
from ragsonde.redaction.wordless import WordlessJudge
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.backfills import reads_files
from ragsonde.storage.engine import build_engine, ping
from ragsonde.storage.judge_states import PostgresJudgeStates
from ragsonde.storage.label_budget import PostgresLabelNames
from ragsonde.storage.parking_store import PostgresParkingStore
from ragsonde.storage.suspect_store import PostgresSuspectStore
from ragsonde.storage.text_keeping import StoredTexts
from ragsonde.tasks import register_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from celery import Celery
    from sqlalchemy import Engine

    from ragsonde.exposition.http import Route
    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock, Judge, Redaction
    from ragsonde.settings import Settings
    from ragsonde.sinks.outbox import Outbox
    from ragsonde.storage.text_keeping import TextRule


TRUSTED_SECONDS = 1.0
"""A ping costs a fifth of a short transaction; a worker, whose guard tries again, can do without most."""


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
    sinks = build_sinks(settings, series=series, clock=clock, fingerprints=fingerprints)
    prometheus = sinks.prometheus
    isolation = ThreadIsolation()
    guard = DeliveryGuard(
        parking=parking,
        suspects=PostgresSuspectStore(engine),
        sink=sinks.all,
        isolation=isolation,
        stopping=stopping,
        on_database=build_database_listener(consumption, series),
    )
    texts = build_text_rule(settings, scorers=scorers)
    asked = _shield_judges(judges, texts=texts, redaction=privacy.redaction)
    stores = build_stores(settings, engine=engine, clock=clock, texts=texts, on_pause=judge_states.pause)
    stages = Stages(
        scorers=scorers,
        assignments=build_assignments(settings, scorers=scorers, judges=asked),
        sample_rates=stores.sample_rates,
        budgets=stores.budgets,
        checks=stores.checks,
        traces=stores.traces,
        spans=stores.spans,
        parking=parking,
        sink=sinks.all,
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
        outboxes=sinks.outboxes,
        stopping=stopping,
    )


def _shield_judges(
    judges: Mapping[str, Judge], *, texts: TextRule, redaction: Redaction | None
) -> Mapping[str, Judge]:
    """The judges, kept from answering in words where no text is stored, and from what is covered."""
    if texts.keep is StoredTexts.NONE:
        judges = {name: WordlessJudge(judge) for name, judge in judges.items()}
    if redaction is not None:
        judges = {name: CoveredJudge(judge, redaction) for name, judge in judges.items()}
    return judges


def build_database_listener(consumption: Consumption, series: Series) -> Callable[[bool], None]:
    """What is told whether Postgres answers: consumption pauses while it does not, each loss is counted."""

    def hear(is_back: bool) -> None:  # noqa: FBT001 - the one fact that is told
        consumption.on_database(is_back)
        if not is_back:
            series.add(DATABASE_LOST)

    return hear


def _check_broker(consumption: Consumption) -> str | None:
    return None if consumption.is_connected else "not connected to the broker"
