"""Traces of files, taken in behind live traffic."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from ragsonde.api.messages import read_messages
from ragsonde.cli.backfill_start import find_user
from ragsonde.cli.backfill_steering import report_end
from ragsonde.cli.connections import find_broker_url
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.publish import publish_all, sort_out
from ragsonde.cli.terminal import make_console, show, write_json, write_note
from ragsonde.intake.publisher import Publisher
from ragsonde.storage.backfills import create_backfill, note_progress, note_published
from ragsonde_schemas.errors import DatabaseLostError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from ragsonde.api.messages import Message
    from ragsonde.settings import Settings
    from ragsonde_schemas.backfill import BackfillRequest

_NOTE_SECONDS = 10.0
"""How often it is noted that the command is at work: the monitor ends what nobody publishes any more."""


def publish_files(
    engine: Engine,
    files: Sequence[str],
    limits: BackfillRequest,
    *,
    settings: Settings,
    is_dry: bool,
    waits: bool,
    as_json: bool,
) -> None:
    """Publishes the messages of files as a backfill, and says so.

    Raises:
        InputError: a file cannot be read.
        BrokerLostError: a message was not confirmed; the same command again sends all, and none counts twice.
        DatabaseLostError: Postgres is away.
        typer.Exit: messages that no worker could read were left out, or the backfill was waited for and did
            not end as done.
    """
    messages = [message for file in files for message in read_messages(file)]
    accepted, refused = sort_out(messages)
    for message, error in refused:
        write_note(f"{message.place}: refused: {error}")
    number = None
    if accepted and not is_dry:
        number = create_backfill(engine, limits, foreseen=0, created_by=find_user(), now=datetime.now(UTC))
        _publish(engine, accepted, number, rate=limits.rate_per_second, broker_url=find_broker_url(settings))
        note_published(engine, number, messages=len(accepted))
    is_waited_for = waits and number is not None
    if as_json and not is_waited_for:
        counts = {"accepted": len(accepted), "refused": len(refused), "dry_run": is_dry, "backfill": number}
        write_json(counts)
    elif not as_json:
        verb = "would be published" if number is None else f"published as backfill {number}"
        make_console().print(show(f"{len(accepted)} {verb}, {len(refused)} refused"))
    if waits and number is not None:
        report_end(engine, number, as_json=as_json)
    if refused:
        raise typer.Exit(ExitCode.BAD_INPUT)


def _publish(
    engine: Engine, messages: Sequence[Message], number: int, *, rate: float, broker_url: str
) -> None:
    publisher = Publisher(broker_url)
    noted_at = time.monotonic()
    sent = 0

    def send(message: Message) -> None:
        nonlocal noted_at, sent
        publisher.publish_file(message.body, backfill=number)
        sent += 1
        if time.monotonic() - noted_at >= _NOTE_SECONDS:
            noted_at = time.monotonic()
            # the next note will do
            with suppress(DatabaseLostError):
                note_progress(engine, number, messages=sent, now=datetime.now(UTC))

    try:
        publish_all(list(messages), rate=rate, send=send)
    finally:
        publisher.close()
