"""Traces of files, taken in behind live traffic."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from ragsonde.api.messages import read_messages
from ragsonde.cli.backfill_start import find_user
from ragsonde.cli.connections import find_broker_url
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.publish import publish_all, sort_out
from ragsonde.cli.terminal import make_console, show, write_json, write_note
from ragsonde.intake.publisher import Publisher
from ragsonde.storage.backfills import create_backfill, note_published

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from ragsonde.api.messages import Message
    from ragsonde.settings import Settings
    from ragsonde_schemas.backfill import BackfillRequest


def publish_files(
    engine: Engine,
    files: Sequence[str],
    limits: BackfillRequest,
    *,
    settings: Settings,
    is_dry: bool,
    as_json: bool,
) -> int | None:
    """The number of the backfill whose messages are all with the broker now; None in a dry run.

    Raises:
        InputError: a file cannot be read.
        BrokerLostError: a message was not confirmed; the same command again sends all, and none counts twice.
        DatabaseLostError: Postgres is away.
        typer.Exit: messages that no worker could read were left out.
    """
    messages = [message for file in files for message in read_messages(file)]
    accepted, refused = sort_out(messages)
    for message, error in refused:
        write_note(f"{message.place}: refused: {error}")
    number = None
    if accepted and not is_dry:
        number = create_backfill(engine, limits, foreseen=0, created_by=find_user(), now=datetime.now(UTC))
        _publish(accepted, number, limits=limits, broker_url=find_broker_url(settings))
        note_published(engine, number, messages=len(accepted))
    if as_json:
        counts = {"accepted": len(accepted), "refused": len(refused), "dry_run": is_dry, "backfill": number}
        write_json(counts)
    else:
        verb = "would be published" if number is None else f"published as backfill {number}"
        make_console().print(show(f"{len(accepted)} {verb}, {len(refused)} refused"))
    if refused:
        raise typer.Exit(ExitCode.BAD_INPUT)
    return number


def _publish(messages: list[Message], number: int, *, limits: BackfillRequest, broker_url: str) -> None:
    publisher = Publisher(broker_url)
    try:
        publish_all(
            messages,
            rate=limits.rate_per_second,
            send=lambda message: publisher.publish_file(message.body, backfill=number),
        )
    finally:
        publisher.close()
