"""What `doctor` looks at, one finding a part."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.cli.connections import find_broker_url, find_database_url
from ragsonde.cli.finding import Finding, Verdict
from ragsonde.cli.judge_check import check_judges
from ragsonde.cli.listening import examine_listening
from ragsonde.cli.waiting_work import examine_due, examine_waiting
from ragsonde.intake.foreign_queues import list_foreign
from ragsonde.intake.publisher import Publisher
from ragsonde.judging.options import JudgeKind
from ragsonde.settings.secrets import hide_password
from ragsonde.storage.engine import build_engine, translating_losses
from ragsonde.storage.parking_store import count_parked
from ragsonde.storage.partitions import list_missing_partitions
from ragsonde.storage.schema_state import schema_state
from ragsonde_schemas.errors import RagsondeError, SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Engine

    from ragsonde.judging.options import JudgeOptions
    from ragsonde.settings import Settings

MOST_CLOCK_SKEW_SECONDS = 5.0
"""Leases have a margin of 30 s."""


_ADVICE = {
    "broker": "check that it runs, and user, password and virtual host in broker_url",
    "database": "check that Postgres runs, that the database is there (createdb) and the role may connect",
    "judges": "correct the settings: a worker does not start with them; `ragsonde check-config` lists all",
}


def examine(settings: Settings) -> list[Finding]:
    """All findings; a part that cannot be reached is a finding too, never an exception of ours."""
    return [
        *_look("broker", lambda: _examine_broker(settings)),
        *_look("database", lambda: _examine_database(settings)),
        *_examine_flow(settings),
        *examine_listening(settings),
        *_look("judges", lambda: _examine_assignments(settings)),
        *(finding for options in settings.judges for finding in _examine_judge(options)),
    ]


def _look(check: str, examine_part: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from examine_part()
    except SetupError as error:
        # nothing is there yet that could be checked; the error says itself what to do
        yield Finding(check, Verdict.FAILING, str(error))
    except RagsondeError as error:
        yield Finding(check, Verdict.FAILING, str(error), _ADVICE[check])


def _examine_broker(settings: Settings) -> Iterator[Finding]:
    url = find_broker_url(settings)
    publisher = Publisher(url, declares=False)
    try:
        foreign = publisher.look_up(list_foreign(settings.queues))
        yield Finding("broker", Verdict.OK, hide_password(url))
        yield _describe_queues(publisher)
    finally:
        publisher.close()
    for queue in foreign:
        if not queue.exists:
            yield Finding(
                f"queue {queue.name}", Verdict.WARNING, "does not exist", "its producer must declare it"
            )
        elif queue.consumers:
            found = f"{queue.consumers} consumers"
            advice = "if one is not ragsonde's, each gets a part of the messages: use a queue of its own"
            yield Finding(f"queue {queue.name}", Verdict.WARNING, found, advice)


def _describe_queues(publisher: Publisher) -> Finding:
    try:
        counts = publisher.count_messages()
    except RagsondeError as error:
        return Finding("queues", Verdict.WARNING, str(error), "a worker or `ragsonde up` declares them")
    return Finding("queues", Verdict.OK, ", ".join(f"{name} {n}" for name, n in counts.items()))


def _examine_database(settings: Settings) -> Iterator[Finding]:
    url = find_database_url(settings)
    engine = build_engine(url, application_name="ragsonde-doctor", pool_size=1)
    try:
        current, head = schema_state(engine)
        yield Finding("database", Verdict.OK, hide_password(url))
        if current != head:
            found = f"schema {current or 'none'}, expected {head}"
            yield Finding("schema", Verdict.FAILING, found, "run `ragsonde migrate`")
            return
        yield Finding("schema", Verdict.OK, str(current))
        yield _examine_partitions(engine)
        yield _examine_parked(engine)
        yield _examine_clock(engine)
    finally:
        engine.dispose()


def _examine_flow(settings: Settings) -> Iterator[Finding]:
    """Whether work goes on; nothing where broker or database cannot be asked, which is told already."""
    with ExitStack() as stack:
        try:
            broker_url = find_broker_url(settings)
            engine = build_engine(
                find_database_url(settings), application_name="ragsonde-doctor", pool_size=1
            )
            stack.callback(engine.dispose)
            current, head = schema_state(engine)
            if current != head:
                return
            yield examine_due(engine)
            publisher = Publisher(broker_url, declares=False)
            stack.callback(publisher.close)
            yield examine_waiting(engine, publisher, broker_url=broker_url, queues=settings.queues)
        except RagsondeError:
            return


def _examine_partitions(engine: Engine) -> Finding:
    missing = list_missing_partitions(engine, day=datetime.now(UTC).date())
    if missing:
        advice = "run `ragsonde migrate`, and keep a monitor running"
        return Finding("partitions", Verdict.WARNING, f"none of today for {', '.join(missing)}", advice)
    return Finding("partitions", Verdict.OK, "today's are there")


def _examine_parked(engine: Engine) -> Finding:
    counts = count_parked(engine, since=datetime.now(UTC) - timedelta(hours=24))
    if not counts:
        return Finding("parked", Verdict.OK, "no message of the last 24 hours waits for somebody")
    found = ", ".join(f"{n} {reason}" for reason, n in counts.items())
    advice = "run `ragsonde parked list`: it shows reason and place of each, and what to do"
    return Finding("parked", Verdict.WARNING, f"{found} of the last 24 hours", advice)


def _examine_clock(engine: Engine) -> Finding:
    with translating_losses(), engine.connect() as connection:
        there = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    skew_seconds = abs((datetime.now(UTC) - there).total_seconds())
    found = f"{skew_seconds:.1f} s from the database's"
    if skew_seconds > MOST_CLOCK_SKEW_SECONDS:
        return Finding(
            "clock", Verdict.WARNING, found, "synchronise the clocks: leases are compared between hosts"
        )
    return Finding("clock", Verdict.OK, found)


def _examine_assignments(settings: Settings) -> Iterator[Finding]:
    assignments = check_judges(settings)
    counts = ", ".join(f"{name} for {len(one.scorers)} scorers" for name, one in assignments.items())
    yield Finding("judges", Verdict.OK, counts or "none configured")


def _examine_judge(options: JudgeOptions) -> Iterator[Finding]:
    check = f"judge {options.name}"
    if options.kind is JudgeKind.LITELLM:
        yield _examine_key(check, options)
    elif options.kind is JudgeKind.RECORDED and options.path is not None and not options.path.is_file():
        yield Finding(check, Verdict.FAILING, f"{options.path} is no file", "correct `path`")
    else:
        yield Finding(check, Verdict.OK, f"{options.kind}, sample {options.sample:g}")


def _examine_key(check: str, options: JudgeOptions) -> Finding:
    found = f"{options.model}, sample {options.sample:g}"
    if options.api_key_env is not None and not os.environ.get(options.api_key_env):
        advice = f"set {options.api_key_env}"
        return Finding(check, Verdict.FAILING, f"{found}; {options.api_key_env} is not set", advice)
    if options.api_key_file is not None and not options.api_key_file.is_file():
        return Finding(check, Verdict.FAILING, f"{found}; {options.api_key_file} is no file", "correct it")
    return Finding(check, Verdict.OK, f"{found} (not called)")
