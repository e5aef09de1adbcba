"""Every kind of judge, read top to bottom; each is imported when one of its kind is built."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.judging.options import JudgeKind
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragsonde.judging.options import JudgeOptions
    from ragsonde.judging.surroundings import Surroundings
    from ragsonde.ports import Judge


class _Row(NamedTuple):
    """Where a kind's class or builder is, and what of the options it is made of."""

    path: str
    choose_arguments: Callable[[JudgeOptions, Surroundings | None], dict[str, Any]]


JUDGES: dict[JudgeKind, _Row] = {
    JudgeKind.LEXICAL: _Row(
        "ragsonde.judging.lexical.judge:LexicalJudge", lambda options, _: {"name": options.name}
    ),
    JudgeKind.LITELLM: _Row(
        "ragsonde.judging.llm_models:build_llm_judge",
        lambda options, surroundings: {"options": options, "surroundings": surroundings},
    ),
    JudgeKind.RECORDED: _Row(
        "ragsonde.judging.recorded:RecordedJudge",
        lambda options, _: {"name": options.name, "path": options.path},
    ),
}


def build_judge(options: JudgeOptions, *, surroundings: Surroundings | None = None) -> Judge:
    """The judge that the options describe.

    Args:
        options: of one judge.
        surroundings: of a deployment; None outside of one.

    Raises:
        InputError: the file of a recorded judge is wrong.
    """
    row = JUDGES[options.kind]
    module_name, _, class_name = row.path.partition(":")
    build: Callable[..., Judge] = getattr(importlib.import_module(module_name), class_name)
    return build(**row.choose_arguments(options, surroundings))


def build_judges(
    options: Sequence[JudgeOptions], *, surroundings: Surroundings | None = None
) -> dict[str, Judge]:
    """All configured judges by name, in order.

    Raises:
        ConfigError: two have the same name.
        InputError: the file of a recorded judge is wrong.
    """
    places: dict[str, int] = {}
    clashes = []
    for place, one in enumerate(options):
        first = places.setdefault(one.name, place)
        if first != place:
            kinds = f"judges[{first}] (kind {options[first].kind}) and judges[{place}] (kind {one.kind})"
            clashes.append(f"{kinds} are both named {one.name}: give each its own name")
    if clashes:
        raise ConfigError(*clashes)
    return {one.name: build_judge(one, surroundings=surroundings) for one in options}
