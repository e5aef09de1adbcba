"""The sampling probability that a tracestate carries.

`ot=th:c` in W3C's tracestate is OpenTelemetry's rejection threshold T: 56 bits in hex, trailing zeros left
out. A trace was kept with probability 1 - T / 2^56. Source: OpenTelemetry specification, "TraceState:
Probability Sampling".
"""

from __future__ import annotations

import re

_OPENTELEMETRY = re.compile(r"(?:^|,)[ \t]*ot=([^,]*)")
_THRESHOLD = re.compile(r"(?:^|;)th:([0-9a-f]{1,14})[ \t]*(?:;|$)")
_DIGITS = 14
_THRESHOLDS = 1 << 56


def find_sampling_probability(tracestate: str) -> float | None:
    """Probability in (0, 1] with which the trace was sampled; None where the tracestate does not say."""
    entry = _OPENTELEMETRY.search(tracestate)
    threshold = _THRESHOLD.search(entry[1]) if entry else None
    if threshold is None:
        return None
    return (_THRESHOLDS - int(threshold[1].ljust(_DIGITS, "0"), 16)) / _THRESHOLDS
