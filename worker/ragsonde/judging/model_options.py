"""What is configured for one model: its name, where it is reached, with which key, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import ConfigDict, Field, SecretStr, model_validator

from ragsonde_schemas.value import Value

_KEY_SOURCES = ("api_key", "api_key_env", "api_key_file")


class TokenPrices(Value):
    """What a model costs, where litellm does not know it or knows it wrong; US dollars a million tokens."""

    input_usd_per_million: Annotated[float, Field(ge=0)]
    output_usd_per_million: Annotated[float, Field(ge=0)]


class FallbackOptions(Value):
    """A model that is asked where a judge's own cannot answer; written as its name, or with how to reach it.

    Attributes:
        model, api_base, api_key, api_key_env, api_key_file, prices: as of a judge, whose own do not count.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    model: Annotated[str, Field(min_length=1)]
    api_base: str | None = None
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    api_key_file: Path | None = None
    prices: TokenPrices | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_name(cls, value: object) -> object:
        return {"model": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        problem = find_key_clash(self)
        if problem is not None:
            raise ValueError(problem)
        return self


def find_key_clash(options: object) -> str | None:
    """What is wrong when more than one source of an API key is given, else None."""
    sources = [key for key in _KEY_SOURCES if getattr(options, key) is not None]
    return f"{' and '.join(sources)} are both given: keep one" if len(sources) > 1 else None
