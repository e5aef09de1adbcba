"""The native message, version 1: what a producer publishes (`application/vnd.ragsonde.trace.v1+json`).

`schemas/wire/trace.v1.json` is generated from `TraceMessage`; a test keeps them equal.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

CONTENT_TYPE = "application/vnd.ragsonde.trace.v1+json"
TRACE_ID_MAX_CHARACTERS = 128
CONTEXT_UNKNOWN = "context_unknown"
"""Type of the error of a context whose text is not where it belongs, and that is not known by its id."""
_WORDS_FOR_CONTENT = ("text", "page_content", "pageContent")


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
    """One retrieved context, or its id alone; its place in the list is its rank."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["content"]}, {"required": ["id"]}]})

    content: str | None = None
    id: str | None = None
    score: Finite | None = None
    source_uri: str | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _check_known(self) -> Self:
        if self.content is None:
            meant = next((word for word in _WORDS_FOR_CONTENT if word in (self.model_extra or {})), None)
            if meant is not None or not self.id:
                found = f"`{meant}`" if meant else "neither text nor id"
                raise PydanticCustomError(
                    CONTEXT_UNKNOWN, "an object with `content` or at least `id`", {"found": found}
                )
        return self


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
    one; those with ids alone need a resolver that finds their texts. `query` or `messages` gives the
    question; the last assistant turn is the answer where none is given.
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
