"""What a sink is towards its outbox, and what it says when a batch could not be delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ragsonde_schemas.errors import RagsondeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde_schemas.score_event import ScoreEvent


class DeliveryError(RagsondeError):
    """A batch was not taken; the message holds no secret and no content.

    Attributes:
        is_final: the same batch would be refused again.
        is_about_content: what is refused is what was sent, and not who sent it or to where.
        retry_after_seconds: what the other side asked us to wait, if it did.
    """

    def __init__(
        self,
        message: str,
        *,
        is_final: bool = False,
        is_about_content: bool = False,
        retry_after_seconds: float | None = None,
    ) -> None:
        self.is_final = is_final
        self.is_about_content = is_about_content
        self.retry_after_seconds = retry_after_seconds
        super().__init__(message)


class Destination(Protocol):
    """Takes batches of results; called by one thread, one batch at a time, in order.

    What an installed package registers under `ragsonde.score_sinks` is a function from `options` to one.
    """

    def deliver(self, batch: Sequence[ScoreEvent]) -> int:
        """Sends a batch, and says how many of it were refused for good; mostly 0.

        Raises:
            DeliveryError: nothing was taken. Any other exception counts as one that may pass.
        """
        ...


class DestinationFactory(Protocol):
    """Makes a destination of what is configured."""

    def __call__(self, options: Mapping[str, Any], /) -> Destination:
        """A destination that has not connected to anything yet.

        Raises:
            ValueError: the options are wrong; the message says what is expected.
        """
        ...
