"""Whose trace it is, by the resource that emitted its spans."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.documents import read_name
from ragsonde.extraction.findings import Found, cite

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLACES = {
    "app": ("service.name", "openinference.project.name"),
    "environment": ("deployment.environment.name", "deployment.environment"),
    "release": ("service.version",),
}
_PATH = re.compile(r"[/~.\\]|[A-Za-z]:[/\\]|.*\\|.*/.*\.\w{1,4}$")


def find_resource_names(resources: Iterable[dict[str, Any]]) -> dict[str, Found]:
    """app, environment and release, each from the first of `resources` that names it."""
    found: dict[str, Found] = {}
    for resource in resources:
        for field, attributes in _PLACES.items():
            if field not in found and (name := _find_name(resource, field, attributes)) is not None:
                found[field] = name
        if len(found) == len(_PLACES):
            break
    return found


def is_app_name(name: str) -> bool:
    """True unless it is what an SDK puts in where nobody named the service: `unknown_service*`, a path."""
    name = name.strip()
    return bool(name) and not name.startswith("unknown_service") and _PATH.match(name) is None


def _find_name(resource: dict[str, Any], field: str, attributes: tuple[str, ...]) -> Found | None:
    for attribute in attributes:
        name = read_name(resource.get(attribute))
        if name is not None and (field != "app" or is_app_name(name)):
            return Found(name, cite(f"resource:{attribute}"))
    return None
