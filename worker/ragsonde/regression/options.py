"""What is configured of the watch for regressions."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from ragsonde.regression.fall_bounds import LOWEST_LEVEL, SMALLEST_DROP
from ragsonde.regression.threshold import PAGE_DAYS, WARN_DAYS
from ragsonde_schemas.http_place import WEBHOOK, HttpPlace, TokenPlace
from ragsonde_schemas.value import Value

GRAFANA = "grafana"


class BaselineChoice(StrEnum):
    """What a stream is compared with."""

    PINNED = "pinned"
    ROLLING = "rolling"


class RegressionOptions(Value):
    """How small a fall matters, and how rare false pages are."""

    smallest_drop: Annotated[float, Field(ge=0.001, le=0.5)] = Field(
        default=SMALLEST_DROP, description="the smallest fall of a mean that matters, on the scale 0 to 1"
    )
    floors: dict[str, Annotated[float, Field(ge=LOWEST_LEVEL, le=1)]] = Field(
        default_factory=dict,
        description="scorer -> a mean it should not be below, where there are too few traces for a baseline",
    )
    arming: bool = Field(
        default=True,
        description="give a changed scorer or judge its baseline from stored traces, by backfill or rescore",
    )
    arming_llm_traces: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=1_000,
        description="stored traces of each app and environment that a changed judge which costs is asked "
        "about for that, at most; 0: none",
    )
    arming_per_second: Annotated[float, Field(gt=0, le=1_000)] = Field(
        default=5.0, description="stored traces that are judged for that in a second, at most"
    )
    seen_out_days: Annotated[int, Field(ge=1, le=365)] = Field(
        default=7,
        description="after so many days without traces the alerts of a stream are closed: another one took "
        "its place, or its scorer or app is gone",
    )
    baselines: dict[str, BaselineChoice] = Field(
        default_factory=dict,
        description="scorer, or scorer/app -> `pinned` (the default: its first week) or `rolling` (the week "
        "until a day ago; such a stream is warned of and never paged, whichever baseline a person chooses)",
    )
    page_days: Annotated[float, Field(ge=WARN_DAYS, le=36_500)] = Field(
        default=PAGE_DAYS, description="chance alone pages once in so many days at most, all streams together"
    )
    webhook: HttpPlace | None = Field(
        default=None, description="where notices of alerts are posted as JSON, one by one"
    )
    grafana: TokenPlace | None = Field(
        default=None, description="root URL of the Grafana in which alerts are annotated, with its token"
    )

    @property
    def alert_sinks(self) -> tuple[str, ...]:
        """The names of those of both that are configured."""
        places = {WEBHOOK: self.webhook, GRAFANA: self.grafana}
        return tuple(name for name, place in places.items() if place is not None)

    def is_rolling(self, *, scorer: str, app: str) -> bool:
        """Whether a stream's baseline moves along; what names its app counts before what names its scorer.

        Args:
            scorer: its instance.
            app: '' where unknown, which the settings name `default`.
        """
        named = self.baselines.get(f"{scorer}/{app or 'default'}")
        return (named or self.baselines.get(scorer)) is BaselineChoice.ROLLING
