"""Every setting: its name, type, default and meaning."""

from __future__ import annotations

import ipaddress
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, model_validator

from ragsonde.assembly.closing import ClosingTimes
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.exposition.options import MetricsOptions, SeriesOptions
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.judging.options import DEFAULT_DEADLINE_SECONDS, JudgeKind, JudgeOptions
from ragsonde.page.options import Links, PageAuth, PageOptions
from ragsonde.receiver.options import ReceiverOptions
from ragsonde.redaction.options import RedactionOptions
from ragsonde.regression.options import RegressionOptions
from ragsonde.scoring.table import DEFAULT_FORMULAS
from ragsonde.settings.secrets import has_valid_port
from ragsonde.sinks.options import ScoreSinkOptions
from ragsonde_schemas.score_stream import MOST_TAGS
from ragsonde_schemas.user_key import LEAST_SECRET_CHARACTERS
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOPBACK = "127.0.0.1"

LEASE_MARGIN_SECONDS = 30.0
"""What an evaluation may need beyond its deadline: to be scored and committed."""

DELIVERY_SECONDS = 600
"""How long a worker may keep a delivery: then Valkey gives it to another one. RabbitMQ waits 30 minutes."""

MOST_TAG_CHARACTERS = 64

OF_ONE_PROCESS = frozenset(
    {
        "broker_url",
        "broker_url_file",
        "data_dir",
        # each process has a role of its own, and the receiver none
        "database_url",
        "database_url_file",
        "host",
        "host_names",
        "insecure",
        "links",
        "log_format",
        "log_level",
        "metrics",
        "page",
        "ports",
        "prefetch_multiplier",
        "receiver",
        "score_sinks",
        "series",
        "threads",
        "user_key",
        "user_key_file",
    }
)
"""Settings in which the processes of one deployment may differ: what is scored, and how, is the same."""

SECRET_URLS = {
    "broker_url": ("amqp", "amqps", "pyamqp", "redis", "rediss", "redis+socket"),
    "database_url": ("postgresql", "postgres", "postgresql+psycopg"),
}
"""URLs that may hold a password, with the schemes they may have; `<name>_file` names a file that holds it."""


def _refuse_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"found {str(value).lower()}, expected a whole number")  # noqa: TRY004 - pydantic catches it
    return value


def _split_commas(value: object) -> object:
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


def _default_scorers() -> dict[str, dict[str, Any] | None]:
    return {formula.id: None for formula in DEFAULT_FORMULAS}


Count = Annotated[int, BeforeValidator(_refuse_boolean), Field(ge=1)]
Port = Annotated[int, BeforeValidator(_refuse_boolean), Field(ge=1, le=65535)]
Days = Annotated[Count, Field(le=36_500)]
HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$", max_length=253)]
Names = Annotated[tuple[str, ...], BeforeValidator(_split_commas), Field(min_length=1)]


class RetentionDays(Value):
    """How many days each table keeps its rows."""

    trace: Days = Field(default=90, description="traces without their texts; no other table outlives it")
    trace_text: Days = Field(default=14, description="questions, contexts, answers and references")
    evaluation: Days = Field(default=90, description="what became of each trace and judge")
    assessment: Days = Field(default=90, description="verdicts")
    judge_reply: Days = Field(default=7, description="raw replies of LLM judges")
    score: Days = Field(default=90, description="scores and their details")
    score_block: Days = Field(default=90, description="scores counted by five minutes; they name no trace")
    parked_message: Days = Field(default=30, description="messages that could not be worked on")
    span: Days = Field(default=1, description="spans of closed traces; later ones find no trace to join")

    @model_validator(mode="after")
    def _keep_traces_longest(self) -> Self:
        dependent = ("assessment", "evaluation", "judge_reply", "score", "trace_text")
        longest = max(dependent, key=lambda name: getattr(self, name))
        days = getattr(self, longest)
        if self.trace < days:
            raise ValueError(
                f"trace: found {self.trace}, expected at least {days}: {longest} is kept so long and needs it"
            )
        return self


class Ports(Value):
    """Where each process serves HTTP: the first port that is tried."""

    receiver: Port = Field(default=4318, description="the receiver's /v1/traces and /traces")
    monitor: Port = Field(default=8321, description="the monitor's page and /metrics")
    worker_metrics: Port = Field(
        default=9321, description="/metrics and /health of a worker, or the next free"
    )


class Settings(Value):
    """Everything that can be configured. Handed down as values; nothing below the top imports it."""

    broker_url: SecretStr | None = Field(default=None, description="the broker; none: the embedded Valkey")
    broker_url_file: Path | None = Field(default=None, description="a file that holds broker_url")
    database_url: SecretStr | None = Field(default=None, description="Postgres; none: the embedded one")
    database_url_file: Path | None = Field(default=None, description="a file that holds database_url")
    data_dir: Path = Field(
        default=Path("ragsonde-data"), description="where the embedded servers keep their data"
    )
    scorers: dict[str, dict[str, Any] | None] = Field(
        default_factory=_default_scorers,
        description="instance name -> options; `scorer` names the formula, by default the instance name",
    )
    judges: tuple[JudgeOptions, ...] = Field(
        default=(JudgeOptions(name="lexical", kind=JudgeKind.LEXICAL),),
        description="who judges, in the order in which they are asked",
    )
    extraction: tuple[ExtractionOptions, ...] = Field(
        default=(),
        description="where fields are found that the formats' rules miss; the first entry that matches holds",
    )
    queues: Names = Field(default=("ragsonde.traces",), description="queues that traces are taken from")
    threads: Count = Field(default=16, description="evaluations that a worker runs at once")
    prefetch_multiplier: Annotated[Count, Field(le=10)] = Field(
        default=1, description="messages a worker holds for each thread; a crash takes them with it"
    )
    max_body_bytes: Annotated[Count, Field(le=128 * 1024 * 1024)] = Field(
        default=1024 * 1024, description="larger messages are parked as oversize"
    )
    retention_days: RetentionDays = Field(
        default_factory=RetentionDays, description="how many days each table keeps its rows"
    )
    store_text: Literal["all", "worst", "none"] = Field(
        default="all",
        description="texts kept when nothing waits for them: all, those of the worst traces, none",
    )
    assembly: ClosingTimes = Field(
        default_factory=ClosingTimes, description="when a trace whose spans come one by one is complete"
    )
    host: str = Field(default=LOOPBACK, description="address that the HTTP servers bind")
    host_names: Annotated[tuple[HostName, ...], BeforeValidator(_split_commas)] = Field(
        default=(), description="names under which the HTTP servers are asked, where no token is asked for"
    )
    insecure: bool = Field(default=False, description="bind other addresses than loopback without any token")
    ports: Ports = Field(default_factory=Ports, description="ports of the HTTP servers")
    receiver: ReceiverOptions = Field(
        default_factory=ReceiverOptions, description="where traces are received over HTTP, and from whom"
    )
    page: PageOptions = Field(default_factory=PageOptions, description="who may read the monitor's page")
    links: Links = Field(default_factory=Links, description="where people go on from the page")
    metrics: MetricsOptions = Field(
        default_factory=MetricsOptions, description="who may scrape the workers' and the monitor's series"
    )
    series: SeriesOptions = Field(
        default_factory=SeriesOptions,
        description="apps and environments that are always named",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="the least severe events that are logged"
    )
    log_format: Literal["json", "text"] = Field(
        default="text", description="one JSON object an event, or text for people"
    )
    score_sinks: tuple[ScoreSinkOptions, ...] = Field(
        default=(), description="where scores are sent besides Postgres and Prometheus"
    )
    redaction: RedactionOptions = Field(
        default_factory=RedactionOptions,
        description="what is taken out of texts before they are stored, parked, judged or logged",
    )
    user_key: SecretStr | None = Field(
        default=None, description="key by which users' ids become pseudonyms; none: made at first start"
    )
    user_key_file: Path | None = Field(
        default=None, description="a file that holds user_key, and older ones on lines of their own"
    )
    user_id_names: Annotated[tuple[str, ...], BeforeValidator(_split_commas)] = Field(
        default=(), description="further names of attributes and keys that hold a user's id"
    )
    stratum_tags: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=MOST_TAG_CHARACTERS)], ...],
        BeforeValidator(_split_commas),
        Field(max_length=MOST_TAGS),
    ] = Field(
        default=(),
        description="topics or routes among traces' tags that scores are counted apart by; the first counts",
    )
    regression: RegressionOptions = Field(
        default_factory=RegressionOptions, description="when a fall of scores is told"
    )
    allow_message_overrides: bool = Field(
        default=False, description="a message may raise its sampling rate, not only lower it"
    )

    @property
    def message_limits(self) -> DecodingLimits:
        """How much a message, or a function of the user's in its place, may hold."""
        return DecodingLimits(body_bytes=self.max_body_bytes)

    @property
    def deadline_seconds(self) -> float:
        """How long one evaluation may take: the longest deadline of a judge that calls somebody."""
        calling = [one.deadline_seconds for one in self.judges if one.calls_somebody]
        return max(calling, default=DEFAULT_DEADLINE_SECONDS)

    @property
    def lease_seconds(self) -> int:
        """How long an evaluation belongs to the worker that took it; then another one may."""
        return math.ceil(self.deadline_seconds + LEASE_MARGIN_SECONDS)

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        broken = [*self._check_urls(), *self._check_judges(), *self._check_host(), *self._check_user_key()]
        if broken:
            raise ValueError("\n".join(broken))
        return self

    def _check_urls(self) -> Iterator[str]:
        for name, schemes in SECRET_URLS.items():
            url: SecretStr | None = getattr(self, name)
            if url is None:
                continue
            scheme, separator, _ = url.get_secret_value().partition("://")
            if not separator or scheme not in schemes:
                yield f"{name}: found no URL of a known kind, expected one that begins with {schemes[0]}://"
            elif not has_valid_port(url.get_secret_value()):
                yield (
                    f"{name}: found a port that is no number from 1 to 65535; "
                    "expected @ : and / in a password written as %40 %3A and %2F"
                )

    def _check_user_key(self) -> Iterator[str]:
        if self.user_key is None:
            return
        if self.user_key_file is not None:
            yield "user_key_file: user_key is given too; keep one of them"
        if len(self.user_key.get_secret_value()) < LEAST_SECRET_CHARACTERS:
            yield (
                f"user_key: found fewer than {LEAST_SECRET_CHARACTERS} characters, expected a secret that "
                "nobody guesses, such as `openssl rand -hex 32` prints"
            )

    def _check_judges(self) -> Iterator[str]:
        if not self.judges:
            yield "judges: is empty; name at least one judge, or leave it out to have the lexical one"
        names = [judge.name for judge in self.judges]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"judges: the name {name} is given to {names.count(name)} judges; rename all but one"
        yield from self._check_deadlines()

    def _check_deadlines(self) -> Iterator[str]:
        """One delivery asks all judges in turn, so their deadlines add up."""
        calling = [judge for judge in self.judges if judge.calls_somebody]
        total = sum(judge.deadline_seconds for judge in calling)
        if total + LEASE_MARGIN_SECONDS < DELIVERY_SECONDS:
            return
        found = ", ".join(f"{judge.name} {judge.deadline_seconds:g} s" for judge in calling)
        expected = DELIVERY_SECONDS - LEASE_MARGIN_SECONDS
        yield (
            f"judges: found deadlines of {total:g} s together ({found}), expected less than {expected:g} s: "
            f"one delivery asks them in turn, and after {DELIVERY_SECONDS} s the broker gives it to another "
            "worker; lower deadline_seconds of some of them, or remove a judge"
        )

    def _check_host(self) -> Iterator[str]:
        if self.insecure:
            return
        own_host = self.receiver.host
        if not is_loopback(self.host) and (missing := self._list_missing_tokens()):
            yield (
                f"host: found {self.host}, which other machines can reach; expected {', '.join(missing)}, or "
                "a loopback address, or insecure: true where the network is trusted"
            )
        if own_host and not is_loopback(own_host) and not self.receiver.asks_for_token:
            yield (
                f"receiver: found host {own_host}, which other machines can reach, and no token; expected "
                "receiver.token_file (or RAGSONDE_RECEIVER__TOKEN), or insecure: true where the network is "
                "trusted"
            )

    def _list_missing_tokens(self) -> list[str]:
        """The settings that the HTTP servers of `host` lack to be reached by other machines."""
        missing = []
        if not self.metrics.asks_for_token:
            missing.append("metrics.token_file for /metrics")
        if self.page.auth is PageAuth.NONE:
            missing.append("page.auth token or proxy_header for the page")
        if self.receiver.host is None and not self.receiver.asks_for_token:
            missing.append("receiver.token_file for the receiver")
        return missing


def is_loopback(host: str) -> bool:
    """True when only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"
