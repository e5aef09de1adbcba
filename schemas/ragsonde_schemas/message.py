"""The native message, version 1: what a producer publishes (`application/vnd.ragsonde.trace.v1+json`).

`schemas/wire/trace.v1.json` is generated from `TraceMessage`; a test keeps them equal.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

CONTENT_TYPE = "application/vnd.ragsonde.trace.v1+json"
TRACE_ID_MAX_CHARACTERS = 128

Finite = Annotated[float, Field(allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class WireModel(BaseModel):
    """Strict types (a number is no string), unknown keys allowed and kept."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, allow_inf_nan=False)


class WireTurn(WireModel):
    """One turn of a chat."""

    role: str
    content: str


class WireContext(WireModel):
    """One retrieved context; its place in the list is its rank."""

    content: str
    id: str | None = None
    score: Finite | None = None
    source_uri: str | None = None
    metadata: dict[str, Any] | None = None


class WireReference(WireModel):
    """What a person says is right."""

    answer: str | None = None
    contexts: list[str] | None = None
    context_ids: list[str] | None = None


class WireEvaluationWish(WireModel):
    """What the producer asks for: it may lower what is done, never raise it."""

    scorers: list[str] | None = None
    sample_rate: Probability | None = None


class TraceMessage(WireModel):
    """A whole trace in one message.

    `contexts`: null or absent means unknown, `[]` means retrieval returned nothing, one string is a list of
    one. `query` or `messages` gives the question; the last assistant turn is the answer where none is given.
    """

    schema_version: Literal["1"] = "1"
    trace_id: Annotated[str, Field(min_length=1, max_length=TRACE_ID_MAX_CHARACTERS)]
    event_id: str | None = None
    app: str | None = None
    environment: str | None = None
    release: str | None = None
    variant: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    occurred_at: Annotated[datetime | None, Field(strict=False)] = None
    query: str | None = None
    messages: list[WireTurn] | None = None
    retrieval_query: str | None = None
    contexts: list[WireContext | str] | str | None = None
    answer: str | None = None
    reference: WireReference | str | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None
    latency_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    evaluation: WireEvaluationWish | None = None
    sampling_probability: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
