"""Every error ragsonde raises on purpose, grouped by what a caller can do about it.

RagsondeError
+-- ConfigError            the operator changes the configuration
+-- InputError             the person at the terminal changes the argument or the file
+-- DecodeError            the producer's message is parked with `reason`
+-- ExtractionError        a mapping, extractor or resolver of the user's failed on a trace
+-- JudgeUnavailableError  an outage: wait, no attempt is burned
+-- JudgePausedError       credentials, model or quota: somebody must act, a probe resumes it
+-- RepeatedCrashError     the evaluation took the process with it twice: it is failed and parked
+-- DatabaseLostError      keep the delivery and wait for Postgres
|   +-- LockedOutError     likewise: somebody keeps what is needed
+-- GivenUpError           Postgres gave up on one statement: try it again a few times
+-- BrokerLostError        the broker cannot be reached or refuses the message
+-- SetupError             a server, port, queue or schema is not as it must be
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde_schemas.judge_call import JudgeCall


class ParkReason(StrEnum):
    """Why a message was parked instead of becoming a trace."""

    EMPTY_BODY = "empty_body"
    OVERSIZE = "oversize"
    INVALID_UTF8 = "invalid_utf8"
    INVALID_JSON = "invalid_json"
    INVALID_PROTOBUF = "invalid_protobuf"
    INVALID_COMPRESSION = "invalid_compression"
    UNKNOWN_FORMAT = "unknown_format"
    UNSUPPORTED_SCHEMA_VERSION = "unsupported_schema_version"
    INVALID_MESSAGE = "invalid_message"
    BAD_TRACE_ID = "bad_trace_id"
    OVER_LIMIT = "over_limit"
    REPEATED_CRASH = "repeated_crash"
    INTERNAL_ERROR = "internal_error"
    DEAD_LETTER = "dead_letter"


class Cause(StrEnum):
    """Why a scorer gave no number."""

    # skipped: there is nothing to score
    NO_CONTEXT = "no_context"
    CONTEXT_TEXT_MISSING = "context_text_missing"
    EMPTY_RETRIEVAL = "empty_retrieval"
    FILTERED_EMPTY = "filtered_empty"
    NO_QUERY = "no_query"
    NO_ANSWER = "no_answer"
    NO_REFERENCE = "no_reference"
    NO_CLAIMS = "no_claims"
    NO_RELEVANT_CONTEXT = "no_relevant_context"
    # error: there should have been a number
    EXTRACTION_FAILED = "extraction_failed"
    NOT_ASSESSED = "not_assessed"
    VERDICT_MISMATCH = "verdict_mismatch"
    INVALID_VERDICT = "invalid_verdict"
    NO_STATEMENTS = "no_statements"
    NOT_FINITE = "not_finite"
    INVALID_REPLY = "invalid_reply"
    REPLY_TRUNCATED = "reply_truncated"
    EMPTY_REPLY = "empty_reply"
    REFUSED = "refused"
    CONTENT_REFUSED = "content_refused"
    CONTEXT_WINDOW_EXCEEDED = "context_window_exceeded"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    JUDGE_REJECTED_REQUEST = "judge_rejected_request"
    JUDGE_RETIRED = "judge_retired"
    BUDGET_SPENT = "budget_spent"
    CONTENT_EXPIRED = "content_expired"
    REPEATED_CRASH = "repeated_crash"
    INTERNAL_ERROR = "internal_error"


class RagsondeError(Exception):
    """The root: catch it to catch everything that ragsonde raises on purpose."""


class ConfigError(RagsondeError):
    """A setting is wrong; `problems` holds one sentence for each, each naming its place and the way out."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


class InputError(RagsondeError):
    """An argument or a file given by a person is wrong."""


class DecodeError(RagsondeError):
    """A message cannot become a trace.

    Attributes:
        reason: the closed reason it is parked with.
        where: path inside the message (`contexts[2].content`) or `body`.
    """

    def __init__(self, reason: ParkReason, message: str, *, where: str = "body") -> None:
        self.reason = reason
        self.where = where
        super().__init__(f"{where}: {message}")


class ExtractionError(RagsondeError):
    """A mapping, an extractor or a resolver that the user configured failed on one trace.

    The trace is stored and its scores are error(extraction_failed); nothing else is tried in its place.
    The message names the field, the expression or function, and the kind of value it met.
    """


class JudgeUnavailableError(RagsondeError):
    """The judge cannot answer now (429, 5xx, timeout, connection).

    Attributes:
        judge: its configured name.
        retry_after_seconds: what the provider asked us to wait, if it did.
        calls: what was asked, and may have been paid, until then; the call that failed is the last.
    """

    def __init__(
        self,
        judge: str,
        message: str,
        *,
        retry_after_seconds: float | None = None,
        calls: tuple[JudgeCall, ...] = (),
    ) -> None:
        self.judge = judge
        self.retry_after_seconds = retry_after_seconds
        self.calls = calls
        super().__init__(f"judge {judge}: {message}")


class JudgePausedError(RagsondeError):
    """The judge cannot answer until somebody acts (401, 403, 404, unknown model, quota).

    Attributes:
        judge: its configured name.
        told: the message without the name.
        calls: what was asked, and may have been paid, until then.
    """

    def __init__(self, judge: str, message: str, *, calls: tuple[JudgeCall, ...] = ()) -> None:
        self.judge = judge
        self.told = message
        self.calls = calls
        super().__init__(f"judge {judge}: {message}")


class RepeatedCrashError(RagsondeError):
    """An evaluation was running at two crashes; it has been failed, its message is to be parked."""


class DatabaseLostError(RagsondeError):
    """Postgres cannot be reached or went away in the middle of a transaction."""


class LockedOutError(DatabaseLostError):
    """Somebody else has kept what we write to for longer than a statement waits; nothing was done."""


class GivenUpError(RagsondeError):
    """Postgres gave up on this transaction, which is undone: too slow, or in conflict with another one.

    The same again may succeed or not: it is worth a few attempts, but nothing else need wait for it.
    """


class BrokerLostError(RagsondeError):
    """The broker cannot be reached, did not confirm, or refused a message."""


class SetupError(RagsondeError):
    """Something outside the code must be set right first: a port, a server, a queue, a schema."""
