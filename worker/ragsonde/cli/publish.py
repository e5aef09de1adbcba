"""`ragsonde publish`: puts the traces of files on the queue."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.api.messages import read_messages
from ragsonde.api.traces import read_traces
from ragsonde.cli.connection_options import BrokerUrlOption, DataDirOption
from ragsonde.cli.connections import find_broker_url
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.terminal import make_console, show, track, write_json, write_note
from ragsonde.intake.publisher import Publisher
from ragsonde.settings import read_settings
from ragsonde_schemas.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.api.messages import Message

EXAMPLES = (
    ("ragsonde publish traces.jsonl", "every trace of the file, as fast as the broker confirms"),
    ("ragsonde publish export.otlp.pb --rate 10", "at most ten messages a second"),
    ("ragsonde publish traces.jsonl --dry-run", "only say which would be refused"),
)


def publish(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="JSON lines, a JSON array, or one message of any known format."
        ),
    ],
    *,
    rate: Annotated[float | None, typer.Option(min=0.001, help="Most messages a second.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and check only, publish nothing.")] = False,
    config: ConfigOption = None,
    broker_url: BrokerUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Publish the traces of files, each confirmed by the broker.

    A message that no worker could read is refused here, named on standard error, and not published; exit
    code 2 then. Publishing the same file again is harmless: a trace is scored once.
    """
    settings = read_settings(config, options={"broker_url": broker_url, "data_dir": data_dir})
    messages = [message for file in files for message in read_messages(file)]
    accepted, refused = sort_out(messages)
    for message, error in refused:
        write_note(f"{message.place}: refused: {error}")
    if not dry_run and accepted:
        publisher = Publisher(find_broker_url(settings))
        try:
            publish_all(
                accepted,
                rate=rate,
                send=lambda message: publisher.publish_trace(message.body, content_type=None),
            )
        finally:
            publisher.close()
    if output is OutputForm.JSON:
        write_json({"accepted": len(accepted), "refused": len(refused), "dry_run": dry_run})
    else:
        verb = "would be published" if dry_run else "published"
        make_console().print(show(f"{len(accepted)} {verb}, {len(refused)} refused"))
    if refused:
        raise typer.Exit(ExitCode.BAD_INPUT)


def sort_out(messages: list[Message]) -> tuple[list[Message], list[tuple[Message, DecodeError]]]:
    """The messages that a worker could read, and the others with why not."""
    accepted: list[Message] = []
    refused: list[tuple[Message, DecodeError]] = []
    for message in messages:
        try:
            read_traces(message.body)
        except DecodeError as error:
            refused.append((message, error))
        else:
            accepted.append(message)
    return accepted, refused


def publish_all(messages: list[Message], *, rate: float | None, send: Callable[[Message], None]) -> None:
    """Sends messages one by one, at most so many a second, with a bar.

    Raises:
        BrokerLostError: one was not confirmed; those before it were.
    """
    begun = time.monotonic()
    for number, message in enumerate(track(messages, total=len(messages), description="publishing")):
        if rate is not None:
            time.sleep(max(0.0, begun + number / rate - time.monotonic()))
        send(message)
