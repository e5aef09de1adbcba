"""What all workers know of a judge's models: which one is paused, and who may try it."""

from __future__ import annotations

from typing import Protocol

from ragsonde_schemas.judge_state import JudgeState


class JudgeStates(Protocol):
    """Where the state of judges is shared; nothing here may raise: a judge works without it."""

    def find(self, judge: str, fingerprint: str) -> JudgeState:
        """The state of a judge's model, as far as it is known."""
        ...

    def pause(self, judge: str, fingerprint: str, *, message: str) -> None:
        """Pauses it for all workers, until a probe succeeds."""
        ...

    def take_probe(self, judge: str, fingerprint: str) -> bool:
        """True for the one worker that may try a paused judge now."""
        ...

    def resume(self, judge: str, fingerprint: str) -> None:
        """Ends the pause."""
        ...


class UnsharedStates:
    """The state of judges outside of a deployment: nobody else asks them, so nothing is paused."""

    def find(self, judge: str, fingerprint: str) -> JudgeState:
        """A judge of which nothing is known."""
        return JudgeState(judge=judge, fingerprint=fingerprint)

    def pause(self, judge: str, fingerprint: str, *, message: str) -> None:
        """Nobody has to be told."""

    def take_probe(self, judge: str, fingerprint: str) -> bool:  # noqa: ARG002
        """Whoever asks may try."""
        return True

    def resume(self, judge: str, fingerprint: str) -> None:
        """There is no pause to end."""
