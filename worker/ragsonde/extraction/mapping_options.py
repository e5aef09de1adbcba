"""The setting `extraction`: where fields are found for which the formats' rules do not suffice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_serializer, model_validator

from ragsonde.extraction.mapping_paths import compile_path
from ragsonde.extraction.options import RetrievalOptions
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import SerializerFunctionWrapHandler

_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*|[\w.-]+")

Timeout = Annotated[float, Field(gt=0, le=120)]


def _make_list(value: object) -> object:
    return value if value is None or isinstance(value, list | tuple) else [value]


def _check_function(name: str) -> str:
    if _FUNCTION.fullmatch(name) is None:
        raise ValueError(
            f"found {name[:80]!r}, expected module:function, for example my_app.rag:contexts, or the "
            "name of an entry point of the group ragsonde.extractors"
        )
    return name


FunctionName = Annotated[str, AfterValidator(_check_function)]


class MatchOptions(Value):
    """Which traces an entry is for, by what the format's rules found; absent is any."""

    app: Annotated[tuple[str, ...] | None, BeforeValidator(_make_list)] = Field(
        default=None, description="one or more apps; `default` is the unknown one"
    )
    environment: Annotated[tuple[str, ...] | None, BeforeValidator(_make_list)] = Field(
        default=None, description="one or more environments"
    )
    format: Annotated[tuple[str, ...] | None, BeforeValidator(_make_list)] = Field(
        default=None, description="one or more formats, as `ragsonde extract --explain` names them"
    )
    tag: Annotated[tuple[str, ...] | None, BeforeValidator(_make_list)] = Field(
        default=None, description="tags of which the trace has at least one"
    )

    def covers(self, *, app: str, environment: str, format_name: str, tags: Iterable[str]) -> bool:
        """True for a trace with these; the app as it is stored."""
        return (
            (self.app is None or show_app(app) in self.app)
            and (self.environment is None or environment in self.environment)
            and (self.format is None or format_name in self.format)
            and (self.tag is None or not set(self.tag).isdisjoint(tags))
        )


class FunctionOptions(Value):
    """A function of the user's."""

    function: FunctionName = Field(description="module:function, or the name of an entry point")
    timeout_seconds: Timeout = Field(default=10.0, description="after which the trace fails")


class SourceOptions(Value):
    """Where a field is found: by a path, or by a function of the user's."""

    path: str | None = Field(
        default=None,
        description="JMESPath into the tree of `ragsonde extract --tree`; written as a plain text",
    )
    function: FunctionName | None = Field(
        default=None, description="module:function, or the name of an entry point"
    )
    timeout_seconds: Timeout = Field(default=10.0, description="after which the trace fails")
    re_retrieved: bool = Field(
        default=False, description="the function searches again: its contexts measure today's index"
    )

    @model_validator(mode="before")
    @classmethod
    def _read_path(cls, value: object) -> object:
        return {"path": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if (self.path is None) == (self.function is None):
            raise ValueError("expected a JMESPath as text, or `function: module:function`, one of the two")
        if self.path is not None and self.model_fields_set - {"path"}:
            raise ValueError("path: options belong to functions: write the path as text")
        if self.path is not None:
            compile_path(self.path)
        return self

    @model_serializer(mode="wrap")
    def _write_path(self, write: SerializerFunctionWrapHandler) -> Any:  # noqa: ANN401 - text or an object
        return self.path if self.path is not None else write(self)


Sources = Annotated[tuple[SourceOptions, ...] | None, BeforeValidator(_make_list)]


class ExtractionOptions(RetrievalOptions):
    """One entry: for which traces, and where their fields are found."""

    match: MatchOptions = Field(default_factory=MatchOptions, description="which traces it is for")
    query: Sources = Field(default=None, description="the question")
    retrieval_query: Sources = Field(default=None, description="the question, standing alone")
    contexts: Sources = Field(default=None, description="what was retrieved; several are joined in order")
    answer: Sources = Field(default=None, description="what the application answered")
    reference: Sources = Field(default=None, description="the right answer")
    app: Sources = Field(default=None, description="the application")
    environment: Sources = Field(default=None, description="where it runs")
    release: Sources = Field(default=None, description="its version")
    variant: Sources = Field(default=None, description="its arm of an experiment")
    session_id: Sources = Field(default=None, description="the session")
    user_id: Sources = Field(default=None, description="the user")
    resolver: FunctionOptions | None = Field(
        default=None, description="gives the texts of contexts of which only ids are known"
    )

    @property
    def retrieval(self) -> RetrievalOptions:
        """How the format's rules put the contexts together."""
        return RetrievalOptions(retrievals=self.retrievals, deduplicate=self.deduplicate)
