"""Tokens of a text, by the tokenizer that litellm knows for a model; nothing is downloaded."""

from __future__ import annotations

from ragsonde.extraction.texts import mend_text
from ragsonde.judging.litellm_loading import load_litellm


class LitellmTokens:
    """Counts tokens as a model does, or as OpenAI's models do where its tokenizer is not in litellm's wheel.

    Args:
        model: litellm's name of it. litellm is imported by the first count.
    """

    def __init__(self, model: str) -> None:
        self._model = model

    def __call__(self, text: str) -> int:
        """Tokens of the text."""
        return int(load_litellm().module.token_counter(model=self._model, text=mend_text(text)))
