"""From the configuration's `scorers:` to scorers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ragsonde.scoring.options import describe, suggest
from ragsonde.scoring.rubric import NAME, list_rubrics
from ragsonde.scoring.scorer import Scorer
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from ragsonde.scoring.formula import Formula

_INSTANCE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_:.-]{0,63}", re.ASCII)
_FORMULA_KEY = "scorer"


def read_instances(config: object, *, formulas: Sequence[Formula]) -> tuple[Scorer, ...]:
    """The scorers of a configuration, in its order.

    Args:
        config: instance name -> options (None for all defaults).
        formulas: what `scorer:` may name, by id or alias.

    Raises:
        ConfigError: with every problem found, not only the first.
    """
    if not isinstance(config, Mapping):
        raise ConfigError(
            f"scorers: found {describe(config)}, expected a mapping of instance names to options"
        )
    if not config:
        raise ConfigError(
            "scorers: is empty; name at least one scorer, or leave it out to have all with defaults"
        )
    scorers: list[Scorer] = []
    problems: list[str] = []
    for instance, raw_options in config.items():
        if not isinstance(instance, str) or not _INSTANCE_NAME.fullmatch(instance):
            problems.append(
                f"scorers: found the name {describe(instance)}, expected a letter, then at most 63 letters, "
                "digits, _ : . or -"
            )
        try:
            scorers.append(_read_instance(instance, raw_options=raw_options, formulas=formulas))
        except ConfigError as error:
            problems.extend(error.problems)
    try:
        list_rubrics(scorers)
    except ConfigError as error:
        problems.extend(error.problems)
    if problems:
        raise ConfigError(*problems)
    return tuple(scorers)


def _read_instance(instance: object, *, raw_options: object, formulas: Sequence[Formula]) -> Scorer:
    place = f"scorers.{instance}"
    if raw_options is None:
        raw_options = {}
    if not isinstance(raw_options, Mapping):
        raise ConfigError(f"{place}: found {describe(raw_options)}, expected a mapping of options")
    named = raw_options.get(_FORMULA_KEY)
    formula, name = _find_formula(instance if named is None else named, place=place, formulas=formulas)
    given = {name: value for name, value in raw_options.items() if name != _FORMULA_KEY}
    options = _read_options(given, formula=formula, place=place)
    if name is not None:
        options[NAME] = name
    return Scorer(str(instance), formula, MappingProxyType(options))


def _find_formula(name: object, *, place: str, formulas: Sequence[Formula]) -> tuple[Formula, str | None]:
    """The formula, and for one that is configured as `id:name` the name."""
    by_name = {known: formula for formula in formulas for known in (formula.id, *formula.aliases)}
    if isinstance(name, str) and name in by_name and not by_name[name].is_named:
        return by_name[name], None
    if isinstance(name, str):
        prefix, _, own = name.partition(":")
        if prefix in by_name and by_name[prefix].is_named:
            if _INSTANCE_NAME.fullmatch(own):
                return by_name[prefix], own
            raise ConfigError(
                f"{place}: found {describe(name)}, expected {prefix}: and a name of letters, digits, _ . or "
                f"-, for example {prefix}:tone"
            )
    nearest = suggest(name, valid=by_name) if isinstance(name, str) else ""
    ids = ", ".join(f"{formula.id}:NAME" if formula.is_named else formula.id for formula in formulas)
    raise ConfigError(f"{place}: {describe(name)} is no scorer{nearest} (known: {ids})")


def _read_options(given: Mapping[object, object], *, formula: Formula, place: str) -> dict[str, object]:
    known = {option.name: option for option in formula.options}
    options: dict[str, object] = {}
    problems: list[str] = []
    for name, value in given.items():
        option = known.get(name) if isinstance(name, str) else None
        if option is None:
            nearest = suggest(name, valid=[*known, _FORMULA_KEY]) if isinstance(name, str) else ""
            names = ", ".join([_FORMULA_KEY, *known])
            problems.append(
                f"{place}: {describe(name)} is no option of {formula.id}{nearest} (known: {names})"
            )
        elif value is not None:
            try:
                options[option.name] = option.read(value, place=f"{place}.{option.name}")
            except ConfigError as error:
                problems.extend(error.problems)
    if formula.check_options is not None and not problems:
        problems += [f"{place}: {problem}" for problem in formula.check_options(options)]
    if problems:
        raise ConfigError(*problems)
    return options
