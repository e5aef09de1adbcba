"""Which judge it was: known before any call, changed when verdicts may change."""

from __future__ import annotations

from hashlib import sha256

from ragsonde.extraction.sentences import SPLITTER_VERSION


def compute_fingerprint(
    kind: str, *, model: str, prompt_version: str = "", temperature: float | None = None
) -> str:
    """16 hex digits that name a judge's way of judging.

    It holds the splitter's version too, since all verdicts are about our sentences. It does not hold what
    changes from trace to trace: the rendered schema, the number of contexts, the aspects asked for.

    Args:
        kind: lexical, litellm or recorded.
        model: the configured model; a version of weights, a digest of a file.
        prompt_version: of the prompt's wording; '' for judges without one.
        temperature: as configured; None where it is not sent.
    """
    told = "" if temperature is None else f"{temperature:g}"
    identity = f"{kind}\x1f{model}\x1f{prompt_version}\x1f{SPLITTER_VERSION}\x1f{told}"
    return sha256(identity.encode()).hexdigest()[:16]
