"""What a provider's error means for us: wait, pause, or a fault of this one trace."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ragsonde.judging.completion import CallFaultError, NotAskedError
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST_WAIT_SECONDS = 86_400.0
LONGEST_RETRY_AFTER = 100
"""Characters; an HTTP date has 29."""
_PAUSING = frozenset({401, 402, 403, 404})
_SPENT = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits"}
)
_TOO_LONG = frozenset({"ContextWindowExceededError", "context_length_exceeded"})
_NOT_ALLOWED = frozenset(
    {
        "ContentPolicyViolationError",
        "content_policy_violation",
        "content_filter",
        "cyber_policy",
        "invalid_prompt",
    }
)
_PAYLOAD_TOO_LARGE = 413
_ACTS = {
    401: "check its API key",
    402: "the account has no credit left: pay, or choose another model",
    403: "its API key may not use this model: check both",
    404: "the provider does not know the model or the address: check `model` and `api_base`",
}
_NO_KEY = re.compile(r"Missing credentials|api_key client option must be set")
_NO_CONNECTION = frozenset({"APIConnectionError", "ConnectError", "ConnectTimeout"})
_DEEPEST_CAUSE = 12
_IDENTIFIER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SECRETS = re.compile(r"(?i)\b(?:sk|pk|rk|key)-[\w*-]{6,}|\bbearer\s+\S+|\bAIza[\w-]{10,}")


def translate_error(
    error: Exception, *, judge: str, secret: str | None, seconds: float
) -> JudgeUnavailableError | JudgePausedError | CallFaultError:
    """What to raise in place of an error of litellm's.

    Messages hold the status and the provider's error code, never its words: they may repeat a key or a text.

    Args:
        error: any of litellm's exceptions.
        judge: the judge's name.
        secret: the key that was sent, to be struck out of the evidence.
        seconds: how long the call took.
    """
    status = _find_status(error)
    if _lacks_key(error):
        return NotAskedError(
            judge, "no API key: name one by api_key_env or api_key_file, or set the provider's own variable"
        )
    told = _describe(error, status)
    if _is_spent(error, status):
        return JudgePausedError(judge, f"{told}: the quota is spent; raise it, or wait for the next period")
    fault = _find_fault(error, status)
    if fault is None and status in _PAUSING:
        return JudgePausedError(judge, f"{told}: {_ACTS[status]}")
    if fault is None and "LLM Provider NOT provided" in str(error):
        return NotAskedError(
            judge,
            "litellm does not know the provider of this model: write it in front, as in openai/gpt-5-mini",
        )
    if fault is None and (status is None or status >= 500 or status in {408, 409, 425, 429}):  # noqa: PLR2004
        return JudgeUnavailableError(judge, told, retry_after_seconds=_find_retry_after(error))
    cause = fault or Cause.JUDGE_REJECTED_REQUEST
    return CallFaultError(cause, told, evidence=strike_secrets(str(error), secret), seconds=seconds)


def strike_secrets(text: str, secret: str | None) -> str:
    """The text without the key that was sent and without what looks like one."""
    if secret:
        text = text.replace(secret, "***")
    return _SECRETS.sub("***", text)


def read_retry_after(value: str, *, now: datetime) -> float | None:
    """Seconds to wait by a Retry-After header, seconds or an HTTP date; None where it is neither."""
    if len(value) > LONGEST_RETRY_AFTER:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            due = parsedate_to_datetime(value)
            seconds = (due.replace(tzinfo=due.tzinfo or UTC) - now).total_seconds()
        except (ValueError, OverflowError):  # of no date, and of one beyond the calendar
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT_SECONDS) if seconds == seconds else None  # noqa: PLR0124 - not a NaN


def _find_status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _find_fault(error: Exception, status: int | None) -> Cause | None:
    """The trace's own fault: by litellm's class, the provider's code or, without one, its words."""
    told = {type(error).__name__, *_list_codes(error)}
    if not told.isdisjoint(_TOO_LONG) or status == _PAYLOAD_TOO_LARGE or "Request too large" in str(error):
        return Cause.CONTEXT_WINDOW_EXCEEDED
    if not told.isdisjoint(_NOT_ALLOWED):
        return Cause.CONTENT_REFUSED
    return None


def _is_spent(error: Exception, status: int | None) -> bool:
    return status in {402, 429} and not _SPENT.isdisjoint(_list_codes(error))


def _list_codes(error: Exception) -> list[str]:
    """The provider's error code and type, as far as they are identifiers."""
    body = getattr(error, "body", None)
    nested = body.get("error") if isinstance(body, dict) else None
    source: Mapping[str, Any] = nested if isinstance(nested, dict) else body if isinstance(body, dict) else {}
    codes = [
        source.get("code"),
        source.get("type"),
        getattr(error, "code", None),
        getattr(error, "type", None),
    ]
    return [code for code in codes if isinstance(code, str) and _IDENTIFIER.fullmatch(code)]


def _lacks_key(error: Exception) -> bool:
    """True where the provider's library found no key to send, which litellm tells as an error of a server."""
    return any(_NO_KEY.search(str(cause)) for cause in _list_causes(error) if not isinstance(cause, OSError))


def _find_lost_connection(error: Exception) -> str | None:
    """Why no connection came about, in the system's words; litellm tells it as an error of a server, too."""
    causes = list(_list_causes(error))
    if not any(type(cause).__name__ in _NO_CONNECTION for cause in causes):
        return None
    system = next((cause for cause in causes if isinstance(cause, OSError) and cause.strerror), None)
    return "no connection" if system is None else f"no connection ({system.strerror})"


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """The error and those behind it, as far as they are chained."""
    cause: BaseException | None = error
    for _ in range(_DEEPEST_CAUSE):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _describe(error: Exception, status: int | None) -> str:
    lost = _find_lost_connection(error)
    if lost is not None:
        return lost
    codes = [code for code in _list_codes(error) if not code.isdigit()]
    name = type(error).__name__ + (f" {status}" if status else "")
    return f"{name} ({codes[0]})" if codes else name


def _find_retry_after(error: Exception) -> float | None:
    response = getattr(error, "response", None)
    for headers in (getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)):
        value = headers.get("retry-after") if headers else None
        if value is not None:
            return read_retry_after(str(value), now=datetime.now(UTC))
    return None
