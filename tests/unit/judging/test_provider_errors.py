from __future__ import annotations

import errno
import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.judging.completion import CallFaultError, NotAskedError
from ragsonde.judging.provider_errors import read_retry_after, strike_secrets, translate_error
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class ProviderError(Exception):
    """As litellm's exceptions look from outside."""

    def __init__(self, message="boom", *, status_code=None, body=None, code=None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.body = body
        self.code = code


def translate(error, *, secret=None):
    return translate_error(error, judge="gpt", secret=secret, seconds=0.25)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("-5", 0.0),
        ("1e9", 86_400.0),
        ("inf", 86_400.0),
        ("nan", None),
        ("soon", None),
        ("", None),
        ("Wed, 01 Jan 2025 00:00:00 +99999999999999999999", None),
        ("Wed, 01 Jan 99999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
        ("Wed, 01 Jan 2025 99:99:99 GMT", None),
        ("9" * 101, None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert read_retry_after(value, now=NOW) == seconds


@given(
    st.text(max_size=40)
    | st.from_regex(
        r"(?a:[A-Z][a-z]{2}, )?\d{1,6} (Jan|Feb) \d{1,12} \d{1,4}:\d{1,4}:\d{1,4} (GMT|[+-]\d{1,25})",
        fullmatch=True,
    )
)
def test_whatever_it_says_the_wait_is_bounded_or_not_known(value):
    seconds = read_retry_after(value, now=NOW)
    assert seconds is None or 0 <= seconds <= 86_400


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529, None])
def test_an_outage_is_waited_for(status):
    assert isinstance(translate(ProviderError(status_code=status)), JudgeUnavailableError)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_somebody_must_mend_pauses_the_judge(status):
    translated = translate(ProviderError(status_code=status))
    assert isinstance(translated, JudgePausedError)
    assert "judge gpt: ProviderError" in str(translated)


@pytest.mark.parametrize("body", [{"code": "insufficient_quota"}, {"error": {"type": "insufficient_quota"}}])
def test_a_spent_quota_is_no_passing_rate_limit(body):
    assert isinstance(translate(ProviderError(status_code=429, body=body)), JudgePausedError)


def test_an_unknown_provider_pauses_the_judge():
    error = ProviderError("LLM Provider NOT provided. You passed model=mock", status_code=400)
    assert "write it in front, as in openai/gpt-5-mini" in str(translate(error))


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ProviderError(status_code=400), Cause.JUDGE_REJECTED_REQUEST),
        (ProviderError(status_code=422), Cause.JUDGE_REJECTED_REQUEST),
        (ProviderError(status_code=413), Cause.CONTEXT_WINDOW_EXCEEDED),
        (
            ProviderError(status_code=400, body={"code": "context_length_exceeded"}),
            Cause.CONTEXT_WINDOW_EXCEEDED,
        ),
        (
            ProviderError("Request too large for m on tokens per min", status_code=429),
            Cause.CONTEXT_WINDOW_EXCEEDED,
        ),
        (ProviderError(status_code=400, body={"code": "content_filter"}), Cause.CONTENT_REFUSED),
        (ProviderError(status_code=403, code="content_policy_violation"), Cause.CONTENT_REFUSED),
    ],
)
def test_the_traces_own_faults_are_causes(error, cause):
    translated = translate(error)
    assert isinstance(translated, CallFaultError)
    assert (translated.cause, translated.seconds) == (cause, 0.25)


def test_messages_hold_codes_but_never_the_providers_words():
    words = "Incorrect API key provided: sk-abc123456 for text 'my diagnosis'"
    for status in (400, 401, 429, 500):
        error = ProviderError(words, status_code=status, body={"code": "bad_thing", "message": words})
        told = str(translate(error))
        assert "bad_thing" in told
        assert "sk-abc" not in told
        assert "diagnosis" not in told


def test_a_code_that_is_no_identifier_is_not_repeated():
    error = ProviderError(status_code=500, body={"code": "key sk-abc123456 <script>"})
    assert str(translate(error)) == "judge gpt: ProviderError 500"


def test_evidence_keeps_the_words_without_secrets():
    error = ProviderError("bad header Bearer tok-1 and my-own-key and sk-live-1234567", status_code=400)
    assert translate(error, secret="my-own-key").evidence == "bad header *** and *** and ***"
    assert strike_secrets("sk-live-1234567 is wrong", None) == "*** is wrong"


def chain(*errors):
    """The first error, each caused by the next."""
    for error, cause in itertools.pairwise(errors):
        error.__cause__ = cause
    return errors[0]


def test_a_key_that_nobody_gave_pauses_the_judge_and_is_told_as_that():
    told = translate(ProviderError("Missing credentials. Please pass an `api_key`", status_code=500))
    assert isinstance(told, NotAskedError)
    assert "no API key" in str(told)


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (
            ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
            "no connection (Connection refused)",
        ),
        (RuntimeError("?"), "no connection"),
    ],
)
def test_a_server_that_is_not_there_is_told_as_that_and_no_error_of_a_server(system, words):
    class ConnectError(Exception):
        pass

    told = translate(chain(ProviderError("Connection error.", status_code=500), ConnectError(), system))
    assert isinstance(told, JudgeUnavailableError)
    assert words in str(told)


def test_a_chain_of_causes_that_goes_in_circles_is_followed_to_an_end():
    error = ProviderError("boom", status_code=500)
    error.__context__ = ProviderError("inner")
    error.__context__.__context__ = error
    assert isinstance(translate(error), JudgeUnavailableError)
