"""The settings in force, for people and for comparison: no secret can be read from it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pydantic import BaseModel, SecretStr

from ragsonde.judging.options import JudgeKind
from ragsonde.regression.options import GRAFANA
from ragsonde.settings.draft import flatten
from ragsonde.settings.fields import OF_ONE_PROCESS, SECRET_URLS, Settings
from ragsonde.settings.origin import DEFAULT, join_path
from ragsonde.settings.secrets import HIDDEN, hide_password
from ragsonde_schemas.http_place import WEBHOOK

if TYPE_CHECKING:
    from ragsonde.settings.origin import KeyPath
    from ragsonde.settings.reading import Reading

_HASH_HEX_DIGITS = 12
ALERT_SINKS = (WEBHOOK, GRAFANA)
_KEY_SOURCES = ("api_key", "api_key_env", "api_key_file")


class SettingRow(NamedTuple):
    """One line of `check-config`.

    Attributes:
        key: `judges[0].sample`.
        value: as a JSON value, secrets hidden.
        origin: `default`, the file, the variable or the option.
    """

    key: str
    value: object
    origin: str


def list_rows(reading: Reading) -> list[SettingRow]:
    """Every setting in force with its origin; options that say nothing about a judge are left out."""
    rows = []
    for path, value in flatten(show_values(reading.settings)):
        if path[0] == "judges" and not _is_telling(reading.settings, path=path):
            continue
        origin = reading.find_origin(path) if _is_given(reading.settings, path=path) else DEFAULT
        rows.append(SettingRow(join_path(path), value, str(origin)))
    return rows


def _is_given(settings: Settings, *, path: KeyPath) -> bool:
    """False where a part of what was written (an entry of a list, a nested setting) has its default."""
    node: object = settings
    for part in path:
        if isinstance(node, BaseModel):
            name = str(part)
            if node is not settings and name in type(node).model_fields and name not in node.model_fields_set:
                return False
            node = getattr(node, name, None)
        elif isinstance(node, dict):
            node = node.get(part)
        elif isinstance(node, list | tuple) and isinstance(part, int):
            node = node[part]
    return True


def _is_telling(settings: Settings, *, path: KeyPath) -> bool:
    """True for what is set, and for every option of a judge of a kind that has them."""
    judge = settings.judges[cast("int", path[1])]
    name = str(path[2])
    if getattr(judge, name) is None or (name == "options" and not judge.is_added):
        return False
    return judge.kind is JudgeKind.LITELLM or name in judge.model_fields_set | {"sample"}


def show_values(settings: Settings) -> dict[str, Any]:
    """All values as JSON values, with secrets hidden."""
    values = settings.model_dump(mode="json")
    for name in SECRET_URLS:
        url: SecretStr | None = getattr(settings, name)
        values[name] = hide_password(url.get_secret_value()) if url else None
    if settings.user_key is not None:
        values["user_key"] = HIDDEN
    values["extraction"] = [
        entry.model_dump(mode="json", exclude_defaults=True) for entry in settings.extraction
    ]
    grafana = settings.regression.grafana
    if grafana is not None and grafana.token is not None:
        values["regression"]["grafana"]["token"] = HIDDEN
    if settings.receiver.token is not None:
        values["receiver"]["token"] = HIDDEN
    for judge, shown in zip(settings.judges, values["judges"], strict=True):
        for key in type(judge).model_fields:
            if isinstance(getattr(judge, key), SecretStr):
                shown[key] = HIDDEN
    return values


def hash_settings(settings: Settings) -> str:
    """12 hex digits: the same in all processes of one deployment, others where traces are scored otherwise.

    Left out is what belongs to one process or machine (`OF_ONE_PROCESS`, and where alerts are told), and
    secrets with the places they are read from.
    """
    values = {name: value for name, value in show_values(settings).items() if name not in OF_ONE_PROCESS}
    values["judges"] = [
        {key: value for key, value in judge.items() if key not in _KEY_SOURCES} for judge in values["judges"]
    ]
    values["regression"] = {
        key: value for key, value in values["regression"].items() if key not in ALERT_SINKS
    }
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:_HASH_HEX_DIGITS]
