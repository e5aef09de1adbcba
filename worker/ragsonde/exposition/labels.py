"""How things are named in the labels of series."""

from __future__ import annotations

LABEL_MAX_CHARACTERS = 100
"""Enough for an instance name of 64 with its basis and options."""

EXEMPLAR_LABEL = "trace_id"
EXEMPLAR_MAX_CHARACTERS = 120
"""128 is the client's limit for names and values together, and `trace_id` takes 8."""

FINGERPRINT_CHARACTERS = 6


def clean_label(value: str) -> str:
    """A label value that every scraper can read: printable, stripped, at most 100 characters.

    What is not printable becomes U+FFFD: a lone surrogate would break the encoding of the whole page.
    """
    text = value[: LABEL_MAX_CHARACTERS * 4].strip()
    if not text.isprintable():
        text = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return text[:LABEL_MAX_CHARACTERS]


def scorer_label(scorer: str, version: str) -> str:
    """The instance's name, its basis and the 6 hex of its options: `context_precision:answer@1f2e3d`.

    Args:
        scorer: the instance's name.
        version: of the score: code version, `+` and 6 hex where options that change raw differ from their
            defaults, `:` and the basis where there is one: `1`, `1+1f2e3d`, `1:answer`, `1+1f2e3d:answer`.
    """
    code_and_options, colon, basis = version.partition(":")
    _, plus, options = code_and_options.partition("+")
    return scorer + (f":{basis}" if colon else "") + (f"@{options}" if plus else "")


def judge_label(judge: str, fingerprint: str, epoch: int = 1) -> str:
    """The judge's name, the first 6 hex of its fingerprint, and the epoch from the second on: `gpt@3fa2c1.2`.

    Args:
        judge: its name.
        fingerprint: of what answered: the judge's own, or a fallback's.
        epoch: counts the models that have answered under this fingerprint.
    """
    if not fingerprint:
        return judge
    return f"{judge}@{fingerprint[:FINGERPRINT_CHARACTERS]}" + (f".{epoch}" if epoch > 1 else "")


def exemplar_of(trace_id: str) -> dict[str, str] | None:
    """The exemplar that leads from a bucket to the trace, or None where the id is too long or unprintable."""
    if not trace_id or len(trace_id) > EXEMPLAR_MAX_CHARACTERS or not trace_id.isprintable():
        return None
    return {EXEMPLAR_LABEL: trace_id}
