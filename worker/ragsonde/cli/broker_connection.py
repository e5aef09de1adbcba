"""A connection to the broker that ends with the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.intake.publisher import Publisher

if TYPE_CHECKING:
    from contextlib import ExitStack


def open_publisher(broker_url: str, stack: ExitStack) -> Publisher:
    """A publisher that is closed when `stack` is; it connects when it is first used."""
    publisher = Publisher(broker_url)
    stack.callback(publisher.close)
    return publisher
