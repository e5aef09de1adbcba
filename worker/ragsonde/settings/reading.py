"""Reads the settings: defaults, then the file, then the environment, then the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import list_judge_kinds
from ragsonde.scoring.options import suggest
from ragsonde.scoring.table import build_scorers
from ragsonde.settings.draft import Draft, find_origin
from ragsonde.settings.environment import CONFIG_VARIABLE, PREFIX, Assignment, read_environment
from ragsonde.settings.fields import SECRET_URLS, Settings
from ragsonde.settings.origin import Origin, Source
from ragsonde.settings.problems import find_names, is_secret, list_problems
from ragsonde.settings.secrets import holds_password, read_secret
from ragsonde.settings.yaml_file import read_yaml
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragsonde.settings.origin import KeyPath

DEFAULT_FILE = Path("ragsonde.yaml")


class Reading(NamedTuple):
    """The settings, and where each value came from.

    Attributes:
        origins: by path, for every value that is no default.
        file: the settings file that was read, None without one.
    """

    settings: Settings
    origins: Mapping[KeyPath, Origin]
    file: Path | None

    def find_origin(self, path: KeyPath) -> Origin:
        """Where the value at a path came from."""
        return find_origin(self.origins, path=path)


def read_settings(
    config: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings in force; see `read_with_origins`."""
    return read_with_origins(config, environ=environ, options=options).settings


def read_with_origins(
    config: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Reading:
    """The settings in force and the origin of each; only files and the environment are read.

    Later sources win: defaults, the file, `RAGSONDE_*`, options of the command line.

    Args:
        config: the settings file; None: `RAGSONDE_CONFIG`, else ./ragsonde.yaml where there is one.
        environ: the environment; None: this process's.
        options: setting -> value as given on the command line; None values are not set; of a setting with
            parts of its own, such as ports, only those that are named.

    Raises:
        ConfigError: with every problem found, each naming its place, what was found and what was expected.
    """
    environ = os.environ if environ is None else environ
    draft = Draft(file=_find_file(config, environ=environ))
    _take_file(draft)
    _take_environment(draft, environ=environ)
    _take_options(draft, options=options or {})
    for name in SECRET_URLS:
        _take_secret_file(draft, name=name)
    settings = _validate(draft)
    if settings is None or draft.problems:
        raise ConfigError(*draft.problems)
    return Reading(settings, draft.origins, draft.file)


def _find_file(config: Path | None, *, environ: Mapping[str, str]) -> Path | None:
    if config is not None:
        return config
    if environ.get(CONFIG_VARIABLE):
        return Path(environ[CONFIG_VARIABLE])
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None


def _take_file(draft: Draft) -> None:
    if draft.file is None:
        return
    try:
        values = read_yaml(draft.file)
    except ConfigError as error:
        draft.problems.extend(error.problems)
        return
    for name, value in values.items():
        draft.set(name, value=value, origin=Origin(Source.FILE, str(draft.file)))
    for path, value in draft.leaves():
        draft.problems.extend(_refuse_secret(draft, path=path, value=value))


def _refuse_secret(draft: Draft, *, path: KeyPath, value: object) -> Iterator[str]:
    """Settings files are committed and copied: a secret does not belong there."""
    if not isinstance(value, str) or not is_secret(Settings, path=path):
        return
    if path[0] in SECRET_URLS:
        if holds_password(value):
            yield (
                f"{draft.name_place(path)}: holds a password, which does not belong into this file; "
                f"set {PREFIX}{str(path[0]).upper()}, or {path[0]}_file to a file that holds the URL"
            )
        return
    key = str(path[-1])
    variable = f"{PREFIX}{'__'.join(map(str, path)).upper()}"
    # a judge stands in a list, so its key has no variable of its own
    other = f"{key}_env to the name of a variable" if path[0] == "judges" else variable
    yield (
        f"{draft.name_place(path)}: is a secret, which does not belong into this file; "
        f"set {other}, or {key}_file to a file that holds it"
    )


def _take_environment(draft: Draft, *, environ: Mapping[str, str]) -> None:
    for found in read_environment(environ):
        if isinstance(found, ConfigError):
            draft.problems.extend(found.problems)
        elif found.parts[0] not in Settings.model_fields:
            nearest = suggest(found.variable, valid=_list_variables())
            draft.problems.append(
                f"{found.variable}: unknown setting{nearest}; `ragsonde check-config` lists all"
            )
        else:
            _take_assignment(draft, assignment=found)


def _take_assignment(draft: Draft, *, assignment: Assignment) -> None:
    try:
        draft.assign(assignment)
    except ConfigError as error:
        draft.problems.extend(error.problems)


def _list_variables() -> list[str]:
    nested = [(name, inner) for name in Settings.model_fields for inner in find_names(Settings, path=(name,))]
    return [
        *(f"{PREFIX}{name.upper()}" for name in Settings.model_fields),
        *(f"{PREFIX}{name.upper()}__{inner.upper()}" for name, inner in nested),
    ]


def _take_options(draft: Draft, *, options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if isinstance(value, dict) and find_names(Settings, path=(name,)):
            given = {part: inner for part, inner in value.items() if inner is not None}
            draft.set(name, value=given, origin=Origin(Source.OPTION, "command line"))
        elif value is not None:
            draft.set(name, value=value, origin=Origin(Source.OPTION, f"--{name.replace('_', '-')}"))


def _take_secret_file(draft: Draft, *, name: str) -> None:
    key = f"{name}_file"
    path = draft.values.get(key)
    if path is None:
        return
    origin = draft.find_origin((key,))
    other = draft.find_origin((name,))
    if draft.values.get(name) is not None and other.source >= origin.source:
        if other.source == origin.source:
            draft.problems.append(f"{draft.name_place((key,))}: {name} is given too; keep one of them")
        return
    try:
        secret = read_secret(Path(path), key=draft.name_place((key,)))
    except ConfigError as error:
        draft.problems.extend(error.problems)
    else:
        draft.set(name, value=secret, origin=Origin(origin.source, f"{origin.place}: {path}"))


def _validate(draft: Draft) -> Settings | None:
    settings = None
    try:
        settings = Settings.model_validate(draft.values, context={"judge_kinds": list_judge_kinds()})
    except ValidationError as error:
        draft.problems.extend(list_problems(error, model=Settings, name_place=draft.name_place))
    scorers = draft.values.get("scorers")
    if isinstance(scorers, dict):
        try:
            build_scorers(scorers, formulas=load_formulas())
        except ConfigError as error:
            draft.problems.extend(draft.add_place(problem) for problem in error.problems)
    return settings
