"""A package of somebody else's whose judge takes the process with it when a question tells it to."""

from __future__ import annotations

import os
import signal

from ragsonde.judging.fingerprint import compute_fingerprint
from ragsonde.judging.lexical.judge import LexicalJudge

DEADLY = "kill this process"


class DeadlyJudge:
    """The lexical judge, but for deadly questions."""

    def __init__(self, name, *, is_free):
        self.name, self.is_free = name, is_free
        self.fingerprint = compute_fingerprint("deadly", model="1")
        self._lexical = LexicalJudge()

    def assess(self, trace, aspects, *, deadline=None):
        """Verdicts, or the end."""
        if DEADLY in trace.query:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._lexical.assess(trace, aspects, deadline=deadline)


def build_judge(options, *, rubrics):  # noqa: ARG001 - it knows none
    """The judge of kind `deadly`."""
    return DeadlyJudge(options.name, is_free=options.options["is_free"])
