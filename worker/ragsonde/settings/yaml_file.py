"""Reads ragsonde.yaml into plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_FILE_BYTES = 1024 * 1024


class _RefusedError(yaml.MarkedYAMLError):
    """It is YAML, but nothing that belongs into settings."""


class _StrictLoader(yaml.SafeLoader):
    """Refuses aliases and keys that stand twice in a mapping.

    A few lines of aliases unfold to billions of values, or hold themselves. Of a key that stands twice, YAML
    itself would silently keep the last.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
            raise _RefusedError(
                problem=f"found the alias *{alias.anchor}, expected its value written out",
                problem_mark=alias.start_mark,
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        seen: dict[str, int] = {}
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise _blame(key_node, problem=f"the key {key!r} is no text{_tell_quotes(key, key_node)}")
            if key in seen:
                raise _blame(key_node, problem=f"the key {key} stands here again, after line {seen[key]}")
            seen[key] = key_node.start_mark.line + 1
        return super().construct_mapping(node, deep=deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """The file's mapping; an empty file is an empty mapping.

    Raises:
        ConfigError: no such file, no valid YAML, a key twice, an alias, or anything but a mapping at the top.
    """
    text = _read_text(path)
    try:
        content = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        fault = "" if isinstance(error, _RefusedError) else "no valid YAML: "
        raise ConfigError(f"{place}: {fault}{error.problem}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path}: no valid YAML: {str(error).partition(chr(10))[0]}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        found = type(content).__name__
        raise ConfigError(f"{path}: found a {found}, expected a mapping such as `threads: 16`")
    return content


def _tell_quotes(key: object, node: yaml.Node) -> str:
    """What to write in place of a word that YAML takes for a truth value."""
    if not isinstance(key, bool):
        return ""
    return f': YAML reads {node.value} as {str(key).lower()}; write it in quotes, "{node.value}"'


def _blame(node: yaml.Node, *, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            body = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror}); --config and RAGSONDE_CONFIG name the settings file"
        ) from error
    if len(body) > LARGEST_FILE_BYTES:
        raise ConfigError(f"{path}: larger than {LARGEST_FILE_BYTES} bytes: this is no settings file")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: no UTF-8 at byte {error.start}: save it as UTF-8") from error
