"""Places inside another tool's JSON: nothing there, or something of another kind, is None."""

from __future__ import annotations

from typing import Any


def look_up(value: object, *keys: str) -> Any:  # noqa: ANN401 - JSON holds anything
    """What stands under `keys`, each inside the one before; None where there is no such place."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def look_up_path(value: object, path: str) -> Any:  # noqa: ANN401 - JSON holds anything
    """What stands at a path with dots: `entity.id`."""
    return look_up(value, *path.split("."))


def list_objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list, without what is none; [] for anything but a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
