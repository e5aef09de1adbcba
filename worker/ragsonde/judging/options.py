"""What is configured for one judge."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    model_validator,
)

from ragsonde.extraction.mapping_options import MatchOptions
from ragsonde.judging.model_options import FallbackOptions, TokenPrices, find_key_clash
from ragsonde.scoring.options import suggest
from ragsonde_schemas.spending import Limit, Period
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_DEADLINE_SECONDS = 120.0
DEFAULT_MAX_TOKENS = 4096
"""Room for about 170 tokens of verdicts, and for what a reasoning model thinks before it writes them."""


class JudgeKind(StrEnum):
    """Where a judge's verdicts come from; installed packages add kinds of their own."""

    LEXICAL = "lexical"
    """word overlap, in this process, free"""
    LITELLM = "litellm"
    """an LLM, through litellm"""
    RECORDED = "recorded"
    """a file of verdicts"""


class Reasons(StrEnum):
    """For what an LLM judge is asked to give reasons: they are read by people and cost tokens."""

    NONE = "none"
    TRACE = "trace"
    """one sentence a trace"""
    CONTEXT = "context"
    """also a few words a context"""


class ReplyFormat(StrEnum):
    """How an LLM is held to the form of its reply."""

    AUTO = "auto"
    """schema where litellm knows that the model supports it, else json, else text"""
    SCHEMA = "schema"
    JSON = "json"
    TEXT = "text"


Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class BudgetOptions(Value):
    """The most that a judge may spend in an hour or a day (UTC), over all workers; absent is no limit."""

    usd_per_hour: Positive | None = Field(default=None, description="US dollars an hour")
    usd_per_day: Positive | None = Field(default=None, description="US dollars a day")
    calls_per_hour: Count | None = Field(default=None, description="calls an hour, second tries included")
    calls_per_day: Count | None = Field(default=None, description="calls a day, second tries included")
    tokens_per_hour: Count | None = Field(default=None, description="tokens an hour, sent and received")
    tokens_per_day: Count | None = Field(default=None, description="tokens a day, sent and received")

    @property
    def limits(self) -> tuple[Limit, ...]:
        """One for each period that is limited."""
        limits = (
            Limit(
                period=Period.HOUR,
                calls=self.calls_per_hour,
                tokens=self.tokens_per_hour,
                usd=self.usd_per_hour,
            ),
            Limit(
                period=Period.DAY, calls=self.calls_per_day, tokens=self.tokens_per_day, usd=self.usd_per_day
            ),
        )
        return tuple(limit for limit in limits if limit != Limit(period=limit.period))


class CircuitOptions(Value):
    """When a worker stops asking a model that does not answer."""

    failures: Count = Field(default=5, description="outages in a row that open the circuit")
    open_seconds: Positive = Field(
        default=10.0, description="how long until one probe is let through; doubled with each failed probe"
    )
    longest_open_seconds: Positive = Field(default=300.0, description="it is not doubled beyond this")


_LITELLM_ONLY = (
    *("model", "api_base", "api_key", "api_key_env", "api_key_file", "prices"),
    *("fallbacks", "budget", "min_per_hour", "max_concurrency"),
)


_OF_THE_PACKAGE = frozenset({"budget", "min_per_hour"})
"""What a judge of an installed package has outside its own `options`."""


def _read_kind(kind: str, info: ValidationInfo) -> str:
    """Ours as such; of others the name, one of the context's `judge_kinds` where there is a context."""
    if kind in tuple(JudgeKind):
        return JudgeKind(kind)
    added = () if info.context is None else info.context.get("judge_kinds")
    if info.context is not None and kind not in added:
        raise ValueError(describe_unknown_kind(kind, added=added))
    return kind


def describe_unknown_kind(kind: str, *, added: Iterable[str]) -> str:
    """What was found, which kinds there are, and which may be meant."""
    *most, last = sorted((*JudgeKind, *added))
    names = f"{', '.join(repr(str(one)) for one in most)} or {str(last)!r}"
    return f"found {kind!r}, expected {names}{suggest(kind, valid=(*most, last))}"


def _read_all(value: object) -> object:
    return None if value == "all" else value


class JudgeOptions(Value):
    """One judge as configured; with no key named, an LLM is called with its provider's own variable."""

    model_config = ConfigDict(hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")] = Field(
        description="its name in scores, series and commands"
    )
    kind: Annotated[str, AfterValidator(_read_kind)] = Field(
        description="lexical, litellm, recorded, or a kind that an installed package adds"
    )
    sample: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="the share of traces it judges, drawn by trace id"
    )
    model: str | None = Field(
        default=None, description="litellm's name of the model, provider in front: openai/gpt-5-mini"
    )
    api_base: str | None = Field(
        default=None, description="where the provider's API is, if not at its usual address"
    )
    api_key: SecretStr | None = Field(
        default=None, description="the key itself; no key named: the provider's own variable"
    )
    api_key_env: str | None = Field(default=None, description="the environment variable that holds the key")
    api_key_file: Path | None = Field(
        default=None, description="a file that holds the key, read again for each call"
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        default=0.0, description="left out where null, and for models that refuse it"
    )
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = Field(default=60.0, description="for one call")
    deadline_seconds: Annotated[float, Field(gt=0, lt=570)] = Field(
        default=DEFAULT_DEADLINE_SECONDS, description="for one trace, all calls together"
    )
    max_tokens: Annotated[int, Field(ge=64, le=200_000)] = Field(
        default=DEFAULT_MAX_TOKENS, description="of a reply; asked once more with twice of it when too little"
    )
    reasons: Reasons = Field(default=Reasons.TRACE, description="for what reasons are asked")
    reply_format: ReplyFormat = Field(
        default=ReplyFormat.AUTO, description="how the model is held to the form of its reply"
    )
    prices: TokenPrices | None = Field(
        default=None, description="what the model costs, where litellm does not know it or knows it wrong"
    )
    path: Path | None = Field(default=None, description="the file of recorded verdicts")
    scorers: Annotated[tuple[str, ...] | None, BeforeValidator(_read_all)] = Field(
        default=None, description="instance names of the scorers it judges for; null or `all`: every one"
    )
    match: MatchOptions = Field(
        default=MatchOptions(), description="which traces it judges; the others are `filtered` for it"
    )
    min_per_hour: Count | None = Field(
        default=None,
        description="a floor: each hour an app's rate is raised so that so many of its traces are judged",
    )
    budget: BudgetOptions | None = Field(default=None, description="what it may spend")
    fallbacks: tuple[FallbackOptions, ...] = Field(
        default=(), description="models that are asked in turn where its own cannot answer"
    )
    max_context_tokens: Annotated[int, Field(ge=100)] = Field(
        default=6000, description="of all contexts in one call; more are split over calls, then cut"
    )
    max_calls: Annotated[int, Field(ge=1, le=8)] = Field(
        default=2, description="calls that the contexts of one trace are split over, at most"
    )
    max_concurrency: Count | None = Field(
        default=None, description="calls at once in one worker process; null: as many as it has threads"
    )
    circuit: CircuitOptions = Field(
        default=CircuitOptions(), description="when a model that does not answer is asked no more for a while"
    )
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="of a package's kind, as it reads them; shown, so no place for secrets",
    )

    @property
    def calls_somebody(self) -> bool:
        """True when it may wait for an answer from elsewhere, as far as its kind tells."""
        return self.kind not in {JudgeKind.LEXICAL, JudgeKind.RECORDED}

    @property
    def is_added(self) -> bool:
        """True when its kind is of an installed package."""
        return not isinstance(self.kind, JudgeKind)

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        problems = [*self._find_missing(), *self._find_superfluous(), *self._find_impossible()]
        if problems:
            raise ValueError(f"judge {self.name}: {'; '.join(problems)}")
        return self

    def _find_missing(self) -> list[str]:
        if self.kind is JudgeKind.LITELLM and not self.model:
            return ["kind litellm needs `model`, for example openai/gpt-5-mini"]
        if self.kind is JudgeKind.RECORDED and self.path is None:
            return ["kind recorded needs `path`, a JSONL file with one assessment a trace"]
        return []

    def _find_impossible(self) -> list[str]:
        if "timeout_seconds" in self.model_fields_set and self.timeout_seconds > self.deadline_seconds:
            problem = (
                f"`timeout_seconds` of one call, {self.timeout_seconds:g}, is longer than `deadline_seconds` "
                f"of all calls about a trace, {self.deadline_seconds:g}: expected at most that"
            )
            return [problem]
        return []

    def _find_superfluous(self) -> list[str]:
        problems = []
        if self.kind is not JudgeKind.LITELLM:
            way_out = "put it under `options`" if self.is_added else "remove it"
            allowed = _OF_THE_PACKAGE if self.is_added else frozenset()
            given = [
                key for key in _LITELLM_ONLY if getattr(self, key) not in {None, ()} and key not in allowed
            ]
            problems += [f"`{key}` is for kind litellm, not {self.kind}: {way_out}" for key in given]
        if self.options and not self.is_added:
            problems.append(f"`options` is for kinds of installed packages, not {self.kind}: remove it")
        if self.kind is not JudgeKind.RECORDED and self.path is not None:
            problems.append(f"`path` is for kind recorded, not {self.kind}: remove it")
        clash = find_key_clash(self)
        return problems if clash is None else [*problems, clash]
