"""What workers know of judges, in memory."""

from __future__ import annotations

from ragsonde_schemas.judge_state import JudgeState


class FakeJudgeStates:
    """Pauses stay until they are ended; `probes` says how many may still be made.

    Attributes:
        told: messages of pauses, in order.
    """

    def __init__(self, clock, *, probes=0, epochs=()):
        self._clock = clock
        self._epochs = dict(epochs)
        self.paused: dict[tuple[str, str], str] = {}
        self.probes = probes
        self.told: list[str] = []

    def find(self, judge, fingerprint):
        message = self.paused.get((judge, fingerprint))
        return JudgeState(
            judge=judge,
            fingerprint=fingerprint,
            epoch=self._epochs.get(fingerprint, 1),
            paused_until=None if message is None else self._clock.now(),
            pause_message=message,
        )

    def pause(self, judge, fingerprint, *, message):
        self.paused[judge, fingerprint] = message
        self.told.append(message)

    def take_probe(self, judge, fingerprint):  # noqa: ARG002
        self.probes -= 1
        return self.probes >= 0

    def resume(self, judge, fingerprint):
        del self.paused[judge, fingerprint]
