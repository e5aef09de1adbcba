"""From pydantic's errors to sentences: place, found, expected."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

from pydantic import BaseModel, SecretStr

from ragsonde.scoring.options import describe, suggest
from ragsonde.settings.secrets import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from ragsonde.settings.origin import KeyPath

_EXPECTED_BY_PREFIX = {
    "int_": "a whole number",
    "float_": "a number",
    "finite_number": "a finite number",
    "bool_": "true or false",
    "string_type": "text",
    "string_pattern_mismatch": "text that matches {pattern}",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "list_type": "a list",
    "tuple_type": "a list",
    "too_short": "at least {min_length} item",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "path_type": "a path",
}


def list_problems(
    error: ValidationError, *, model: type[BaseModel], name_place: Callable[[KeyPath], str]
) -> Iterator[str]:
    """One sentence for each error.

    Args:
        error: of validating `model`.
        model: whose fields are the valid names.
        name_place: from a path to where it was set, e.g. `ragsonde.yaml: judges[0].sample`.
    """
    for details in error.errors(include_url=False):
        path = tuple(part for part in details["loc"] if part != "[key]")
        if details["type"] == "value_error":
            for message in str(details["ctx"]["error"]).splitlines():
                yield _describe_rule(message, path=path, model=model, name_place=name_place)
        else:
            yield _describe_error(details, path=path, model=model, name_place=name_place)


def find_names(model: type[BaseModel], *, path: KeyPath) -> tuple[str, ...]:
    """The valid names at a path into a model's fields; empty where any name is valid, or none."""
    found = _follow(model, path=path)
    return tuple(found.model_fields) if isinstance(found, type) and issubclass(found, BaseModel) else ()


def is_secret(model: type[BaseModel], *, path: KeyPath) -> bool:
    """True when the field at a path must never be shown."""
    parent = _follow(model, path=path[:-1])
    if (
        not (isinstance(parent, type) and issubclass(parent, BaseModel))
        or path[-1] not in parent.model_fields
    ):
        return False
    annotation = parent.model_fields[str(path[-1])].annotation
    return SecretStr in (annotation, *typing.get_args(annotation))


def _describe_error(
    details: ErrorDetails, *, path: KeyPath, model: type[BaseModel], name_place: Callable[[KeyPath], str]
) -> str:
    kind = details["type"]
    if kind == "extra_forbidden":
        names = find_names(model, path=path[:-1])
        nearest = suggest(str(path[-1]), valid=names)
        return f"{name_place(path)}: unknown setting{nearest} (known: {', '.join(names)})"
    if kind == "missing":
        return f"{name_place(path)}: is missing, and has no default"
    found = HIDDEN if is_secret(model, path=path) else describe(details["input"])
    return f"{name_place(path)}: found {found}, expected {_describe_expectation(details)}"


def _describe_rule(
    message: str, *, path: KeyPath, model: type[BaseModel], name_place: Callable[[KeyPath], str]
) -> str:
    """A rule over several fields names the field it is about at the beginning of its message."""
    key, _, rest = message.partition(": ")
    if key in find_names(model, path=path):
        return f"{name_place((*path, key))}: {rest}"
    return f"{name_place(path)}: {message}"


def _describe_expectation(details: ErrorDetails) -> str:
    kind = details["type"]
    template = next((text for prefix, text in _EXPECTED_BY_PREFIX.items() if kind.startswith(prefix)), None)
    if template is None:
        return details["msg"][:1].lower() + details["msg"][1:]
    return template.format(**details.get("ctx", {}))


def _follow(model: type[BaseModel], *, path: KeyPath) -> object:
    found: object = model
    for part in path:
        if isinstance(found, type) and issubclass(found, BaseModel):
            field = found.model_fields.get(str(part))
            found = field.annotation if field else None
        elif typing.get_origin(found) in {tuple, list}:
            found = typing.get_args(found)[0]
        else:
            return None
        found = _without_none(found)
    return found


def _without_none(annotation: object) -> object:
    arguments = [argument for argument in typing.get_args(annotation) if argument is not type(None)]
    is_optional = type(None) in typing.get_args(annotation) and len(arguments) == 1
    return arguments[0] if is_optional else annotation
