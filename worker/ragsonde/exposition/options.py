"""What is configured for the series."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from ragsonde_schemas.label_names import MOST_APPS, MOST_ENVIRONMENTS
from ragsonde_schemas.token import TokenSource
from ragsonde_schemas.value import Value


def _split_commas(value: object) -> object:
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]


class SeriesOptions(Value):
    """Which names series have whatever comes; the rest of the room goes to the busiest."""

    apps: Annotated[Names, Field(max_length=MOST_APPS)] = Field(
        default=(), description="apps that always have series of their own"
    )
    environments: Annotated[Names, Field(max_length=MOST_ENVIRONMENTS)] = Field(
        default=(), description="environments that always have series of their own"
    )


class MetricsOptions(TokenSource):
    """Who may scrape workers and monitor: who shows the token; without one nobody is asked."""
