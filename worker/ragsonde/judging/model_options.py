"""What is configured for one model: its name, where it is reached, with which key, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import ConfigDict, Field, SecretStr, model_validator

from ragsonde_schemas.value import Value

_KEY_SOURCES = ("api_key", "api_key_env", "api_key_file")


class TokenPrices(Value):
    """What a model costs, where litellm does not know it or knows it wrong; US dollars a million tokens."""

    input_usd_per_million: Annotated[float, Field(ge=0)] = Field(description="of tokens that are sent")
    output_usd_per_million: Annotated[float, Field(ge=0)] = Field(description="of tokens that are received")


class FallbackOptions(Value):
    """A model that is asked where a judge's own cannot answer; written as its name, or with how to reach it.

    How to reach it is as of a judge, whose own does not count.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    model: Annotated[str, Field(min_length=1)] = Field(description="litellm's name of the model")
    api_base: str | None = Field(default=None, description="where its API is, if not at its usual address")
    api_key: SecretStr | None = Field(default=None, description="its key itself")
    api_key_env: str | None = Field(default=None, description="the environment variable that holds its key")
    api_key_file: Path | None = Field(default=None, description="a file that holds its key")
    prices: TokenPrices | None = Field(
        default=None, description="what it costs, where litellm does not know it or knows it wrong"
    )

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
