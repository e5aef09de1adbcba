"""A provider that is not asked while it is away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.judging.completion import CallFaultError, CallNotMadeError, NotAskedError
from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError

if TYPE_CHECKING:
    from ragsonde.judging.circuit import Circuit
    from ragsonde.judging.completion import Completion, Provider
    from ragsonde.judging.prompt import Message


class GuardedProvider:
    """A `Provider` behind a circuit breaker.

    Args:
        provider: that is asked.
        judge: its name, for messages.
        circuit: of this model, in this process.
    """

    def __init__(self, provider: Provider, *, judge: str, circuit: Circuit) -> None:
        self._provider = provider
        self._judge = judge
        self._circuit = circuit

    def complete(
        self,
        messages: list[Message],
        *,
        schema: dict[str, Any],
        max_tokens: int,
        timeout_seconds: float,
    ) -> Completion:
        """The model's answer, asked for once.

        Raises:
            CallNotMadeError: the circuit is open.
            CallFaultError, JudgeUnavailableError, JudgePausedError: as the provider raises them.
        """
        wait_seconds, is_probe = self._circuit.enter()
        if wait_seconds is not None:
            raise CallNotMadeError(
                self._judge, "left alone, as it did not answer", retry_after_seconds=wait_seconds
            )
        try:
            completion = self._provider.complete(
                messages, schema=schema, max_tokens=max_tokens, timeout_seconds=timeout_seconds
            )
        except JudgeUnavailableError as outage:
            self._circuit.fail(is_probe=is_probe, retry_after_seconds=outage.retry_after_seconds)
            raise
        except NotAskedError:
            self._circuit.leave(is_probe=is_probe)
            raise
        except (CallFaultError, JudgePausedError):
            self._circuit.succeed(is_probe=is_probe)  # it refuses, so it is there
            raise
        except BaseException:
            self._circuit.leave(is_probe=is_probe)
            raise
        self._circuit.succeed(is_probe=is_probe)
        return completion
