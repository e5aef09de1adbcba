"""Reads RAGSONDE_* variables: one a setting, parts of nested settings joined by `__`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PREFIX = "RAGSONDE_"
CONFIG_VARIABLE = "RAGSONDE_CONFIG"
"""Names the settings file."""

_KUBERNETES_NAME = re.compile(
    r".*(_SERVICE_HOST|_SERVICE_PORT(_.*)?|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$"
)
_KUBERNETES_PORT_VALUE = re.compile(r"(tcp|udp|sctp)://")
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]")


class Assignment(NamedTuple):
    """What one variable sets.

    Attributes:
        variable: its whole name.
        parts: of its name, lower case: `("judges", "gpt", "sample")`.
        value: text, or what the JSON in it says.
    """

    variable: str
    parts: tuple[str, ...]
    value: object


def read_environment(environ: Mapping[str, str]) -> Iterator[Assignment | ConfigError]:
    """What the environment sets, by name; a value that is no JSON where it looks like it becomes an error.

    Empty variables count as not set. Variables that Kubernetes makes for a service called `ragsonde...` are
    no settings and are passed over.
    """
    for variable in sorted(environ):
        value = environ[variable]
        if not variable.startswith(PREFIX) or variable == CONFIG_VARIABLE or not value:
            continue
        if _is_from_kubernetes(variable, value=value):
            continue
        parts = tuple(variable.removeprefix(PREFIX).lower().split("__"))
        try:
            yield Assignment(variable, parts, _read_value(value, is_free=parts[0] == "scorers"))
        except ValueError as error:
            yield ConfigError(
                f"{variable}: begins like JSON but is none ({error}); write it as one JSON value"
            )


def apply_assignment(values: dict[str, Any], assignment: Assignment) -> tuple[str | int, ...]:
    """Writes an assignment into the values, in place; the path where it stands now.

    Existing keys are found whatever their case and punctuation (`MY_JUDGE` is `my-judge`); an item of a list
    is named by its place from 0 or by its `name`.

    Raises:
        ConfigError: the path leads into a single value, or to no item of a list.
    """
    path: list[str | int] = []
    node: Any = values
    for position, part in enumerate(assignment.parts):
        key = _find_key(node, part=part, assignment=assignment)
        path.append(key)
        if position == len(assignment.parts) - 1:
            node[key] = assignment.value
        elif isinstance(node, dict) and node.get(key) is None:
            node[key] = {}
        node = node[key]
    return tuple(path)


def _is_from_kubernetes(variable: str, *, value: str) -> bool:
    if _KUBERNETES_NAME.fullmatch(variable):
        return True
    return variable.endswith("_PORT") and _KUBERNETES_PORT_VALUE.match(value) is not None


def _read_value(text: str, *, is_free: bool) -> object:
    if text.lstrip().startswith(("{", "[")):
        return json.loads(text)
    if is_free:
        # options of scorers have no declared type: 0.3 is a number there, anything but JSON a word
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _find_key(node: object, *, part: str, assignment: Assignment) -> str | int:
    if isinstance(node, dict):
        return next((key for key in node if _fold(key) == _fold(part)), part)
    if isinstance(node, list):
        if part.isdigit() and int(part) < len(node):
            return int(part)
        for index, item in enumerate(node):
            if isinstance(item, dict) and _fold(str(item.get("name", ""))) == _fold(part):
                return index
        raise ConfigError(
            f"{assignment.variable}: no item {part!r}; expected a place from 0 to {len(node) - 1} or a name"
        )
    raise ConfigError(
        f"{assignment.variable}: leads into a single value; expected a variable with fewer `__`"
    )


def _fold(name: str) -> str:
    return _NOT_ALPHANUMERIC.sub("_", name.lower())
