"""The names of app, environment, release and variant: parts of keys, and labels of series."""

from __future__ import annotations

import hashlib

LABEL_CHARACTERS = 100
"""As many as a label of a series has: a place is called the same where it is stored and shown."""

FOLD = "other"
"""What series call all those together that have no name of their own."""

_DIGEST_CHARACTERS = 8


def read_label(value: str | None, field: str, warnings: list[str]) -> str:
    """The name as it is stored, `''` for none; `warnings` gets a sentence for everything that was changed.

    What is not printed is left out, and a longer name ends in `~` and a digest of the whole: two that begin
    alike stay two. A producer's own `other` is called `other_`: it must not be added to what series fold.
    """
    text = _leave_out_unprinted(value or "", field, warnings).strip()
    if len(text) > LABEL_CHARACTERS:
        warnings.append(f"{field}: found {len(text)} characters, cut to {LABEL_CHARACTERS} with a digest")
        text = cut_label(text)
    if text == FOLD:
        warnings.append(f"{field}: found {FOLD}, which series call what has no name there; called {FOLD}_")
        text = f"{FOLD}_"
    return text


def cut_label(text: str) -> str:
    """A text of more than `LABEL_CHARACTERS` as its beginning and a digest, so many characters together."""
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{text[: LABEL_CHARACTERS - len(digest) - 1].rstrip()}~{digest}"


def _leave_out_unprinted(text: str, field: str, warnings: list[str]) -> str:
    if text.strip().isprintable():
        return text
    warnings.append(f"{field}: found characters that are not printed, left out")
    shown = "".join(one if one.isprintable() else " " if one.isspace() else "" for one in text)
    return " ".join(shown.split())
