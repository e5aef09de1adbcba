"""The page of settings, written from the models that read them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from pydantic import BaseModel, SecretStr, TypeAdapter

from ragsonde.settings.environment import CONFIG_VARIABLE, PREFIX
from ragsonde.settings.fields import OF_ONE_PROCESS, Settings
from reference_pages.json_types import name_type
from reference_pages.markdown import draw_table, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

_ITEM_NAMES = {"judges": "NAME", "score_sinks": "NAME"}
"""What an item of a list is called in a variable; of other lists its place, from 0."""
_OPENING = f"""\
# Settings

Written by `make reference`. A setting comes from an option of the command, a variable, the settings file,
or has its default, in this order. The file is `--config`, else `${CONFIG_VARIABLE}`, else `./ragsonde.yaml`
where there is one. `ragsonde check-config` prints what is in force and where it came from, and lists all
mistakes at once; a name that is not known is refused with the nearest one. Settings are read once, at the
start.

- **Variables**: `{PREFIX}` and the path in capitals, its parts joined by two underscores. `judges[]` is any
  item of the list: NAME is its `name` or its place from 0, `0` its place alone. A value that begins with
  `{{` or `[` is read as JSON; a list of names may be written with commas.
- **Lists** replace the default list, and so does a mapping of `scorers`; of other mappings only what is
  named changes.
- **Secret**: shown as `****` by every command, and in no log. Keep it in a variable or a file.
- **One process**: marked are settings in which the processes of one deployment may differ. All others must
  be the same: `ragsonde_config_info` and the alert
  [RagsondeConfigDiffers](../runbooks/RagsondeConfigDiffers.md) tell when not.
- Rules between settings (a token where other machines can reach a port, one source for a key, deadlines
  that fit into a delivery) are told by `check-config` with what to change.
"""


class Row(NamedTuple):
    """A setting.

    Attributes:
        path: `judges[].sample`.
        variable: that sets it.
        field: its declaration.
        schema: its JSON Schema.
        owner: the model that declares it.
    """

    path: str
    variable: str
    field: FieldInfo
    schema: dict[str, Any]
    owner: type[BaseModel]

    @property
    def holder(self) -> str:
        """The path of what holds it: `judges[]`."""
        return self.path.rpartition(".")[0]

    @property
    def is_secret(self) -> bool:
        """True when it is never shown."""
        return SecretStr in {self.field.annotation, *get_args(self.field.annotation)}

    @property
    def default(self) -> object:
        """As a JSON value; None where it must be given, as where it is null."""
        if self.field.is_required():
            return None
        default = self.field.get_default(call_default_factory=True)
        return _ANY.dump_python(default, mode="json", exclude_defaults=True)


_ANY: TypeAdapter[Any] = TypeAdapter(Any)
_DEFINITIONS: dict[str, Any] = Settings.model_json_schema().get("$defs", {})


def list_rows() -> Iterator[Row]:
    """Every setting, nested ones after the one that holds them."""
    yield from _walk(Settings, path="", variable=PREFIX)


def write_page() -> str:
    """The page, as Markdown."""
    rows = list(list_rows())
    plain = [row for row in rows if row.path in Settings.model_fields]
    parts = [_OPENING, "## All\n\n" + _draw(plain, is_top=True)]
    for name in Settings.model_fields:
        inner = [row for row in rows if row.path.startswith((f"{name}.", f"{name}[]."))]
        if inner:
            field = Settings.model_fields[name]
            parts.append(f"## {name}\n\n{_begin_sentence(field.description)}\n\n{_draw(inner, is_top=False)}")
    return "\n".join(parts)


def _walk(model: type[BaseModel], *, path: str, variable: str) -> Iterator[Row]:
    properties = (
        Settings.model_json_schema() if model is Settings else _DEFINITIONS.get(model.__name__, {})
    )["properties"]
    for name, field in model.model_fields.items():
        row = Row(f"{path}{name}", f"{variable}{name.upper()}", field, properties[name], model)
        yield row
        inner = _find_model(field.annotation)
        if inner is not None:
            is_list = _is_list(row.schema)
            step = f"__{_ITEM_NAMES.get(name, '0')}__" if is_list else "__"
            yield from _walk(
                inner, path=f"{row.path}{'[]' if is_list else ''}.", variable=f"{row.variable}{step}"
            )


def _find_model(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _find_model(part))), None)


def _is_list(schema: dict[str, Any]) -> bool:
    return "array" in {one.get("type") for one in (schema, *schema.get("anyOf", ()))}


def _draw(rows: list[Row], *, is_top: bool) -> str:
    """A table; what has the parts of an earlier row refers to that."""
    first: dict[type[BaseModel], str] = {}
    for row in rows:
        first.setdefault(row.owner, row.holder)
    shown = [row for row in rows if is_top or first[row.owner] == row.holder]
    return draw_table(
        ("setting, variable", "value", "default", "what it is"),
        (_write_row(row, is_top=is_top, first=first) for row in shown),
    )


def _write_row(row: Row, *, is_top: bool, first: dict[type[BaseModel], str]) -> tuple[str, ...]:
    value = name_type(row.schema, definitions=_DEFINITIONS)
    if row.is_secret:
        value = f"**secret**, {value}"
    meaning = row.field.description or ""
    inner = _find_model(row.field.annotation)
    if inner is not None and is_top:
        value = f"[{value}](#{row.path})"
    if not is_top and inner is not None and first[inner] not in {row.path, f"{row.path}[]"}:
        meaning = f"{meaning}; its parts as of {quote(first[inner])}"
    if row.path in OF_ONE_PROCESS:
        meaning = f"{meaning} (one process)"
    return f"{quote(row.path)}<br>{quote(row.variable)}", value, _show_default(row), meaning


def _show_default(row: Row) -> str:
    if row.field.is_required():
        return "must be given"
    if _find_model(row.field.annotation) is not None and not _is_list(row.schema) and row.default is not None:
        return "as below"
    return quote(json.dumps(row.default, ensure_ascii=False))


def _begin_sentence(text: str | None) -> str:
    return f"{(text or '')[:1].upper()}{(text or '')[1:]}."
