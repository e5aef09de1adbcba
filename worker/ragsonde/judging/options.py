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

    usd_per_hour: Positive | None = None
    usd_per_day: Positive | None = None
    calls_per_hour: Count | None = None
    calls_per_day: Count | None = None
    tokens_per_hour: Count | None = None
    tokens_per_day: Count | None = None

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
    """When a worker stops asking a model that does not answer.

    Attributes:
        failures: outages in a row that open the circuit.
        open_seconds: how long it stays open before one probe is let through; doubled with each failed probe.
        longest_open_seconds: it is not doubled beyond this.
    """

    failures: Count = 5
    open_seconds: Positive = 10.0
    longest_open_seconds: Positive = 300.0


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
    """One judge as configured.

    Attributes:
        name: its name in scores, series and commands.
        kind: a `JudgeKind`, or the name that an installed package gives its own kind.
        sample: the share of traces it judges, drawn by trace id.
        model: litellm's name of the model, with the provider in front: `openai/gpt-5-mini`.
        api_base: where the provider's API is, if not at its usual address.
        api_key, api_key_env, api_key_file: the key itself, or the environment variable or the file that holds
            it (read again for each call); none of them: the provider's own variable, e.g. OPENAI_API_KEY.
        temperature: left out for models that refuse it, and where None.
        timeout_seconds: for one call; deadline_seconds: for one trace, all calls together.
        max_tokens: of a reply; asked once more with double the room when that was too little.
        path: of the recorded verdicts.
        scorers: instance names of those it judges for; `all` is every one.
        match: which traces it judges; the others are `filtered` for it.
        min_per_hour: a floor: each hour an app's rate is raised so that so many of its traces would be judged
            if as many came as in the last hour that had any. An app that nothing came from for a day has the
            configured rate until the next hour begins.
        budget: what it may spend.
        fallbacks: models that are asked in turn where its own cannot answer.
        max_context_tokens: of all contexts in one call; more are split over `max_calls` calls, then cut at
            the ends of sentences.
        options: of a kind that an installed package adds, as that package reads them; no place for secrets,
            they are shown.
        max_concurrency: calls at once in one worker process; None = as many as it has threads.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]
    kind: Annotated[str, AfterValidator(_read_kind)]
    sample: Annotated[float, Field(ge=0, le=1)] = 1.0
    model: str | None = None
    api_base: str | None = None
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    api_key_file: Path | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 60.0
    deadline_seconds: Annotated[float, Field(gt=0, lt=570)] = DEFAULT_DEADLINE_SECONDS
    max_tokens: Annotated[int, Field(ge=64, le=200_000)] = DEFAULT_MAX_TOKENS
    reasons: Reasons = Reasons.TRACE
    reply_format: ReplyFormat = ReplyFormat.AUTO
    prices: TokenPrices | None = None
    path: Path | None = None
    scorers: Annotated[tuple[str, ...] | None, BeforeValidator(_read_all)] = None
    match: MatchOptions = MatchOptions()
    min_per_hour: Count | None = None
    budget: BudgetOptions | None = None
    fallbacks: tuple[FallbackOptions, ...] = ()
    max_context_tokens: Annotated[int, Field(ge=100)] = 6000
    max_calls: Annotated[int, Field(ge=1, le=8)] = 2
    max_concurrency: Count | None = None
    circuit: CircuitOptions = CircuitOptions()
    options: dict[str, Any] = Field(default_factory=dict)

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
