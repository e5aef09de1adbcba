"""One model called through litellm, and nothing else of litellm: no retries, no cache, no callbacks."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.judge_calls import JUDGE_CALL_TAG
from ragsonde.judging.completion import CallNotMadeError, NotAskedError
from ragsonde.judging.limited_calls import CallTimeoutError, LimitedCalls, TooManyAbandonedError
from ragsonde.judging.litellm_loading import load_litellm
from ragsonde.judging.litellm_response import read_response
from ragsonde.judging.model_prices import find_prices, price_tokens
from ragsonde.judging.options import ReplyFormat
from ragsonde.judging.provider_errors import translate_error
from ragsonde_schemas.errors import JudgeUnavailableError

if TYPE_CHECKING:
    from ragsonde.judging.completion import Completion
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.judging.prompt import Message

SCHEMA_NAME = "verdicts"
GRACE_SECONDS = 0.5
"""Beyond its time a call is given so much to end by itself, with its connection closed."""
_NO_KEY = "none"
_QUIETLY = {
    "max_retries": 0,
    "num_retries": 0,
    "drop_params": True,
    "no-log": True,
}

_TAGGING = {"x-litellm-tags": JUDGE_CALL_TAG}
"""LiteLLM's proxy tags what it logs by this; the metadata above stays in this process."""


class LitellmProvider:
    """The model that a judge's options name; may be called from any number of threads at once."""

    def __init__(self, options: JudgeOptions) -> None:
        self._options = options
        self._reply_format = options.reply_format
        self._calls = LimitedCalls()

    def complete(
        self,
        messages: list[Message],
        *,
        schema: dict[str, Any],
        max_tokens: int,
        timeout_seconds: float,
    ) -> Completion:
        """The model's answer, asked for once.

        Args:
            messages: the conversation.
            schema: of the reply.
            max_tokens: of the reply.
            timeout_seconds: for the whole call, from its beginning to the last byte.

        Raises:
            CallFaultError: it will not answer this.
            JudgeUnavailableError: it cannot answer now, or did not in time.
            JudgePausedError: it cannot answer until somebody acts.
            CallNotMadeError: too many calls never came back.
            NotAskedError: its API key cannot be read.
        """
        judge, key = self._options.name, self._read_key()
        litellm, provider_error = load_litellm()
        request = {
            "model": self._options.model,
            "messages": messages,
            "max_tokens": max_tokens,
            "timeout": timeout_seconds,
            # new for each call: litellm notes the times of the call in it, beside those that it finds there
            "metadata": {"tags": [JUDGE_CALL_TAG]},
            **_QUIETLY,
            **self._choose_format(litellm, schema),
            **self._list_given(key),
        }
        failure: Exception
        begun = time.monotonic()
        try:
            response = self._calls.run(
                lambda: litellm.completion(**request), seconds=timeout_seconds + GRACE_SECONDS
            )
        except provider_error as error:
            failure = translate_error(error, judge=judge, secret=key, seconds=time.monotonic() - begun)
        except CallTimeoutError:
            failure = JudgeUnavailableError(judge, f"no whole answer within {timeout_seconds:g} s")
        except TooManyAbandonedError as error:
            failure = CallNotMadeError(judge, f"not asked, {error}")
        else:
            return read_response(response, find_cost=self._find_cost, seconds=time.monotonic() - begun)
        raise failure  # out here litellm's error, which may hold the key, is not in its context

    def _list_given(self, key: str | None) -> dict[str, Any]:
        options = self._options
        given = {
            "api_key": key,
            "api_base": options.api_base,
            "temperature": options.temperature,
            "extra_headers": None if options.api_base is None else _TAGGING,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _choose_format(self, litellm: Any, schema: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a module
        if self._reply_format is ReplyFormat.AUTO:
            self._reply_format = _find_format(litellm, self._options.model or "")
        if self._reply_format is ReplyFormat.TEXT:
            return {}
        if self._reply_format is ReplyFormat.JSON:
            return {"response_format": {"type": "json_object"}}
        described = {"name": SCHEMA_NAME, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": described}}

    def _read_key(self) -> str | None:
        options = self._options
        if options.api_key is not None:
            return options.api_key.get_secret_value()
        if options.api_key_env is not None:
            return self._read_variable(options.api_key_env)
        if options.api_key_file is not None:
            return self._read_file()
        is_local = options.api_base is not None and (options.model or "").startswith("openai/")
        return _NO_KEY if is_local and not os.environ.get("OPENAI_API_KEY") else None

    def _read_variable(self, name: str) -> str:
        key = os.environ.get(name, "").strip()
        if not key:
            raise NotAskedError(
                self._options.name, f"environment variable {name} is not set: it must hold the API key"
            )
        return key

    def _read_file(self) -> str:
        path = self._options.api_key_file
        try:
            key = path.read_text().strip() if path is not None else ""
        except (OSError, UnicodeDecodeError) as error:
            raise NotAskedError(
                self._options.name, f"cannot read the API key from {path}: {type(error).__name__}"
            ) from None
        if not key:
            raise NotAskedError(self._options.name, f"{path} is empty: it must hold the API key")
        return key

    def _find_cost(self, response: Any, tokens_in: int | None, tokens_out: int | None) -> float | None:  # noqa: ANN401
        """By the configured prices, else as litellm finds it, with discounts; where it has no price, None."""
        configured = self._options.prices
        if tokens_in is None or tokens_out is None:
            return None
        if configured is not None:
            return price_tokens(configured, tokens_in=tokens_in, tokens_out=tokens_out)
        known = response._hidden_params.get("response_cost")  # noqa: SLF001 - where litellm leaves it
        if known or find_prices(self._options.model or "", configured=None) is not None:
            return None if known is None else float(known)
        return None


def _find_format(litellm: Any, model: str) -> ReplyFormat:  # noqa: ANN401 - a module
    if litellm.supports_response_schema(model=model):
        return ReplyFormat.SCHEMA
    known = litellm.get_supported_openai_params(model=model) or ()
    return ReplyFormat.JSON if "response_format" in known else ReplyFormat.TEXT
