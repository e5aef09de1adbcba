"""What is configured for one score sink."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from ragsonde_schemas.http_place import WEBHOOK, find_shown_url_problem
from ragsonde_schemas.value import Value

OTLP = "otlp"
OWN_KINDS = (WEBHOOK, OTLP)


Count = Annotated[int, Field(ge=1, strict=True)]
"""Strict: true is no number."""


class ScoreSinkOptions(Value):
    """One place to which scores are sent."""

    kind: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")] = Field(
        description="webhook, otlp, or the name of an entry point of the group ragsonde.score_sinks"
    )
    name: Annotated[str | None, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")] = Field(
        default=None, description="its name in series and logs; none: its kind"
    )
    url: str | None = Field(default=None, description="where results are posted; without any secret")
    url_file: Path | None = Field(default=None, description="a file that holds url, where that is a secret")
    headers_file: Path | None = Field(
        default=None, description="a file of lines `Name: value`, read anew for every request"
    )
    link: str | None = Field(
        default=None, description="template of a link to the trace: {trace_id}, {app}, {record_key}"
    )
    batch: Annotated[Count, Field(le=1_000)] = Field(default=100, description="most results in one request")
    queue: Annotated[Count, Field(le=1_000_000)] = Field(
        default=10_000, description="results that may wait; further ones are dropped and counted"
    )
    attempts: Annotated[Count, Field(le=20)] = Field(
        default=8, description="how often one request is tried before its results are dropped"
    )
    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = Field(
        default=10.0, description="for one request as a whole"
    )
    options: dict[str, Any] = Field(default_factory=dict, description="for the sink of a package")

    @property
    def label(self) -> str:
        """Its name, else its kind."""
        return self.name or self.kind

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = [*self._check_own(), *self._check_url(), *self._check_link()]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _check_own(self) -> list[str]:
        if self.kind not in OWN_KINDS:
            return []
        problems = []
        if (self.url is None) == (self.url_file is None):
            problems.append(f"url: a sink of kind {self.kind} needs either `url` or `url_file`")
        if self.options:
            problems.append(f"options: are for sinks of packages, not for kind {self.kind}: remove them")
        return problems

    def _check_url(self) -> list[str]:
        if self.url is None:
            return []
        problem = find_shown_url_problem(self.url)
        return [] if problem is None else [f"url: {problem}"]

    def _check_link(self) -> list[str]:
        if self.link is None:
            return []
        try:
            self.link.format(trace_id="", app="", record_key="")
        except (KeyError, IndexError, ValueError):
            return ["link: found another field than {trace_id}, {app} and {record_key}, or a lone brace"]
        return []
