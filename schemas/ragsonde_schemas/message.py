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

    role: str = Field(description="`user`, `assistant`, or another")
    content: str = Field(description="what was said")


class WireContext(WireModel):
    """One retrieved context, or its id alone; its place in the list is its rank."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["content"]}, {"required": ["id"]}]})

    content: str | None = Field(default=None, description="its text")
    id: str | None = Field(default=None, description="its id in your index")
    score: Finite | None = Field(default=None, description="the retriever's own score")
    source_uri: str | None = Field(default=None, description="where it is from")
    metadata: dict[str, Any] | None = Field(default=None, description="whatever else is known of it")

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

    answer: str | None = Field(default=None, description="the right answer")
    contexts: list[str] | None = Field(default=None, description="texts that should have been retrieved")
    context_ids: list[str] | None = Field(default=None, description="ids that should have been retrieved")


class WireEvaluationWish(WireModel):
    """What the producer asks for: it may lower what is done, never raise it."""

    scorers: list[str] | None = Field(default=None, description="only these of those configured")
    sample_rate: Probability | None = Field(default=None, description="a lower rate than the judge's")


class TraceMessage(WireModel):
    """A whole trace in one message.

    `contexts`: null or absent means unknown, `[]` means retrieval returned nothing, one string is a list of
    one; those with ids alone need a resolver that finds their texts. `query` or `messages` gives the
    question; the last assistant turn is the answer where none is given.
    """

    schema_version: Literal["1"] = Field(default="1", description="of this form")
    trace_id: Annotated[str, Field(min_length=1, max_length=TRACE_ID_MAX_CHARACTERS)] = Field(
        description="names the request; the same id again is a repetition or, with other content, a revision"
    )
    event_id: str | None = Field(default=None, description="of the message, as you name it")
    app: str | None = Field(default=None, description="whose trace it is; absent: `default`")
    environment: str | None = Field(default=None, description="where the app runs: production, staging")
    release: str | None = Field(default=None, description="the version of the app")
    variant: str | None = Field(default=None, description="its arm of an experiment")
    session_id: str | None = Field(default=None, description="the conversation it is of")
    user_id: str | None = Field(default=None, description="who asked; stored as a pseudonym")
    occurred_at: Annotated[datetime | None, Field(strict=False)] = Field(
        default=None, description="when it was asked; absent: guessed from the id, the broker or the receipt"
    )
    query: str | None = Field(default=None, description="the question")
    messages: list[WireTurn] | None = Field(
        default=None, description="the conversation in place of `query`: its last user turn is the question"
    )
    retrieval_query: str | None = Field(
        default=None, description="the question as it was searched for, standing alone"
    )
    contexts: list[WireContext | str] | str | None = Field(
        default=None, description="what was retrieved, in order; null: unknown, []: nothing was found"
    )
    answer: str | None = Field(
        default=None, description="what the app answered; absent: the last assistant turn of `messages`"
    )
    reference: WireReference | str | None = Field(
        default=None, description="what is right, as a person says; one text is the answer"
    )
    model: str | None = Field(default=None, description="the model that answered")
    usage: dict[str, Any] | None = Field(default=None, description="its tokens, in its provider's words")
    latency_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None, description="how long the answer took"
    )
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None, description="what the answer cost"
    )
    tags: list[str] | None = Field(
        default=None, description="such as topic and route; see the setting `stratum_tags`"
    )
    metadata: dict[str, Any] | None = Field(
        default=None, description="whatever else you want to see beside it"
    )
    evaluation: WireEvaluationWish | None = Field(
        default=None, description="what is asked for of its evaluation: less, never more"
    )
    sampling_probability: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = Field(
        default=None, description="the share of traffic that you publish, where it is a sample"
    )
