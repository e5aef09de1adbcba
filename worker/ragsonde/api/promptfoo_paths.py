"""Paths into an output, as promptfoo's `transform` and `contextTransform` write them in JavaScript."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.embedded_json import read_embedded
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOTS = (("JSON.parse(output)", "output"), ("context.vars", "vars"), ("output", "output"), ("vars", "vars"))
_STEP = re.compile(
    r"""\s*(?:\?\.|\.)?\s*\[\s*(?:(?P<index>\d{1,6})|"(?P<double>[^"]*)"|'(?P<single>[^']*)')\s*\]"""
    r"""|\s*(?:\?\.|\.)\s*(?P<name>[A-Za-z_$][\w$]*)"""
)
SUPPORTED = (
    "a path of names and indices on `output` or `context.vars`, for example output.context, "
    'output.results[0].chunks or output["retrieved docs"]'
)


class Path(NamedTuple):
    """Where something stands.

    Attributes:
        root: `output` or `vars`.
        steps: names of keys, and indices of lists.
    """

    root: str
    steps: tuple[str | int, ...]


def read_path(expression: object, *, place: str) -> Path:
    """The path that an expression is.

    Args:
        expression: as it stands in the file.
        place: of it, for the error.

    Raises:
        InputError: it is anything that only JavaScript could compute.
    """
    if not isinstance(expression, str):
        raise InputError(f"{place}: found a {type(expression).__name__}, expected {SUPPORTED}")
    text = expression.strip().removesuffix(";").rstrip()
    for written, root in _ROOTS:
        steps = _read_steps(text.removeprefix(written)) if text.startswith(written) else None
        if steps is not None:
            return Path(root, steps)
    raise InputError(
        f"{place}: {expression!r} needs JavaScript, which is not run; expected {SUPPORTED}, "
        "or write the contexts into vars.context"
    )


def follow_path(path: Path, *, roots: Mapping[str, object]) -> Any:  # noqa: ANN401 - whatever JSON holds there
    """The value at the path, JSON inside strings read on the way; None where there is none."""
    value = roots.get(path.root)
    for step in path.steps:
        if isinstance(value, str):
            value = read_embedded(value)
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _read_steps(text: str) -> tuple[str | int, ...] | None:
    """The steps that the text consists of; None where there is anything else in it."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            return None
        index = found["index"]
        name = next((found[key] for key in ("name", "double", "single") if found[key] is not None), "")
        steps.append(name if index is None else int(index))
        position = found.end()
    return tuple(steps)
