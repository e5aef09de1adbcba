"""Every kind of judge, read top to bottom; each is imported when one of its kind is built."""

from __future__ import annotations

import importlib
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ragsonde.judging.cover import cover_nothing
from ragsonde.judging.options import JudgeKind, describe_unknown_kind
from ragsonde.scoring.rubric import list_rubrics
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragsonde.judging.cover import Cover
    from ragsonde.judging.options import JudgeOptions
    from ragsonde.judging.surroundings import Surroundings
    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.rubric import Rubric

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")


class JudgeFactory(Protocol):
    """How an installed package makes a judge of its own kind."""

    def __call__(self, options: JudgeOptions, *, rubrics: tuple[Rubric, ...]) -> Judge:
        """The judge, named `options.name`; a `PaidJudge` where it is not free.

        Args:
            options: what the package itself is told stands in `options.options`.
            rubrics: the questions that aspect `rubrics` stands for. Ratings that carry a rubric's digest are
                never taken for the answer to another question.

        Raises:
            ConfigError: the options are wrong.
        """
        ...


class _Parts(NamedTuple):
    """What judges are made of."""

    options: JudgeOptions
    surroundings: Surroundings | None
    rubrics: tuple[Rubric, ...]
    cover: Cover


class _Row(NamedTuple):
    """Where a kind's class or builder is, and what of the parts it takes."""

    path: str
    choose_arguments: Callable[[_Parts], dict[str, Any]]


JUDGES: dict[JudgeKind, _Row] = {
    JudgeKind.LEXICAL: _Row(
        "ragsonde.judging.lexical.judge:LexicalJudge", lambda parts: {"name": parts.options.name}
    ),
    JudgeKind.LITELLM: _Row(
        "ragsonde.judging.llm_models:build_llm_judge",
        lambda parts: parts._asdict(),
    ),
    JudgeKind.RECORDED: _Row(
        "ragsonde.judging.recorded:RecordedJudge",
        lambda parts: {"name": parts.options.name, "path": parts.options.path},
    ),
}


NOTHING_ADDED: Mapping[str, JudgeFactory] = MappingProxyType({})


def build_judge(
    options: JudgeOptions,
    *,
    surroundings: Surroundings | None = None,
    scorers: Sequence[Scorer] = (),
    added: Mapping[str, JudgeFactory] = NOTHING_ADDED,
    cover: Cover = cover_nothing,
) -> Judge:
    """The judge that the options describe.

    Args:
        options: of one judge.
        surroundings: of a deployment; None outside of one.
        scorers: all that are configured: the rubrics of those it judges for are what it may be asked.
        added: the kinds of installed packages.
        cover: of a model's own words, before it is shown them again and before any of them are cut; a judge
            of a package sees to that itself.

    Raises:
        ConfigError: its kind is not known, or what the package made is no judge.
        InputError: the file of a recorded judge is wrong.
    """
    names = {scorer.instance for scorer in scorers} if options.scorers is None else options.scorers
    rubrics = list_rubrics(scorer for scorer in scorers if scorer.instance in names)
    if options.is_added:
        return _build_added(options, rubrics=rubrics, added=added)
    row = JUDGES[JudgeKind(options.kind)]
    module_name, _, class_name = row.path.partition(":")
    build: Callable[..., Judge] = getattr(importlib.import_module(module_name), class_name)
    return build(**row.choose_arguments(_Parts(options, surroundings, rubrics, cover)))


def build_judges(
    options: Sequence[JudgeOptions],
    *,
    surroundings: Surroundings | None = None,
    scorers: Sequence[Scorer] = (),
    added: Mapping[str, JudgeFactory] = NOTHING_ADDED,
    cover: Cover = cover_nothing,
) -> dict[str, Judge]:
    """All configured judges by name, in order; the arguments are those of `build_judge`.

    Raises:
        ConfigError: two have the same name, or as `build_judge`.
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
    return {
        one.name: build_judge(one, surroundings=surroundings, scorers=scorers, added=added, cover=cover)
        for one in options
    }


def _build_added(
    options: JudgeOptions, *, rubrics: tuple[Rubric, ...], added: Mapping[str, JudgeFactory]
) -> Judge:
    """What the package made, held to what the pipeline relies on.

    Raises:
        ConfigError: no package has the kind, it failed, or it made no judge.
    """
    place = f"judge {options.name}"
    if options.kind not in added:
        raise ConfigError(f"{place}: kind: {describe_unknown_kind(options.kind, added=added)}")
    try:
        judge = added[options.kind](options, rubrics=rubrics)
    except ConfigError as error:
        raise ConfigError(*(f"{place}: {problem}" for problem in error.problems)) from error
    except Exception as error:
        raise ConfigError(
            f"{place}: kind {options.kind} failed with {type(error).__name__}: {error}; "
            "correct its options, or ask who wrote the package"
        ) from error
    for key, is_valid, expected in (
        ("name", lambda name: name == options.name, repr(options.name)),
        ("fingerprint", _is_fingerprint, "16 hex digits"),
        ("is_free", lambda is_free: isinstance(is_free, bool), "true or false"),
        ("assess", callable, "a method"),
    ):
        found = getattr(judge, key, None)
        if not is_valid(found):
            raise ConfigError(
                f"{place}: kind {options.kind} made a {type(judge).__name__} whose {key} is {found!r}, "
                f"expected {expected}"
            )
    return judge


def _is_fingerprint(value: object) -> bool:
    return isinstance(value, str) and _FINGERPRINT.fullmatch(value) is not None
