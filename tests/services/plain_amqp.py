"""A producer that knows AMQP and nothing of Celery, kombu or us."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import amqp
from sqlalchemy import make_url

if TYPE_CHECKING:
    from collections.abc import Iterator

EXCHANGE = "ragsonde"
ROUTING_KEY = "shop.traces"


@contextmanager
def open_channel(broker_url: str) -> Iterator[amqp.Channel]:
    """A channel on a connection of its own, with confirms."""
    url = make_url(broker_url)
    with amqp.Connection(
        f"{url.host}:{url.port}",
        userid=url.username,
        password=url.password,
        virtual_host=url.database,
        confirm_publish=True,
    ) as connection:
        yield connection.channel()


def publish(
    channel: amqp.Channel,
    body: bytes,
    *,
    exchange: str = EXCHANGE,
    routing_key: str = ROUTING_KEY,
    **properties: object,
) -> None:
    """Publishes a message; returns when the broker has it in a queue."""
    message = amqp.Message(body, **properties)
    channel.basic_publish(message, exchange=exchange, routing_key=routing_key, mandatory=True)
