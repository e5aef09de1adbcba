"""What promptfoo's assertions ask of a test: thresholds for our formulas, and where its contexts are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.api.promptfoo_paths import Path, read_path
from ragsonde.extraction.documents import read_score
from ragsonde.scoring.table import FORMULAS, find_formula
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALIAS = "promptfoo:"
_RECALL = "context-recall"
_EXAMPLE = "{type: context-relevance, threshold: 0.3}"


class Demands(NamedTuple):
    """What a test's assertions ask for.

    Attributes:
        thresholds: lowest raw score by formula.
        contexts_path: where the contexts are in the output, None where the test's variables hold them.
        reference: the expected answer that `context-recall` names.
        notes: what is not read.
    """

    thresholds: dict[str, float]
    contexts_path: Path | None
    reference: str | None
    notes: tuple[str, ...]


def read_demands(asserted: list[Any], *, templates: dict[str, Any], place: str) -> Demands:
    """What the assertions ask for: those of a type that a formula stands for; of the others, what they tell.

    Of several thresholds for one formula the highest holds, as the test must pass every assertion.

    Args:
        asserted: as they stand in the file.
        templates: `assertionTemplates` by name.
        place: of the test, for errors.

    Raises:
        InputError: an assertion without a type, a threshold that is no number from 0 to 1, or a
            contextTransform that only JavaScript could compute.
    """
    thresholds: dict[str, float] = {}
    paths: dict[Path, None] = {}
    reference = None
    notes = []
    for assertion in _open(asserted, templates=templates, place=place):
        kind = str(assertion["type"])
        where = f"{place}: assert {kind}"
        formula = find_formula(f"{_ALIAS}{kind}")
        if formula is None:
            notes.append(f"assertions of type {kind} are not judged here; {_list_known()}")
        elif assertion.get("threshold") is not None:
            limit = _read_threshold(assertion["threshold"], place=where)
            thresholds[formula.id] = max(limit, thresholds.get(formula.id, 0.0))
        if assertion.get("contextTransform") is not None:
            paths[read_path(assertion["contextTransform"], place=f"{where}: contextTransform")] = None
        if kind == _RECALL and isinstance(assertion.get("value"), str):
            reference = assertion["value"]
    if len(paths) > 1:
        notes.append("of several contextTransforms the first one holds")
    return Demands(thresholds, next(iter(paths), None), reference, tuple(notes))


def _open(asserted: list[Any], *, templates: dict[str, Any], place: str) -> Iterator[dict[str, Any]]:
    """The assertions one by one: sets opened, references to templates followed."""
    for one in asserted:
        assertion = one
        if isinstance(one, dict) and "$ref" in one:
            name = str(one["$ref"]).rpartition("/")[2]
            if not isinstance(templates.get(name), dict):
                raise InputError(f"{place}: assert: assertionTemplates hold no {name!r}")
            assertion = {**templates[name], **{key: value for key, value in one.items() if key != "$ref"}}
        if not isinstance(assertion, dict) or not isinstance(assertion.get("type"), str):
            found = type(assertion).__name__ if not isinstance(assertion, dict) else "mapping without a type"
            raise InputError(f"{place}: assert: found a {found}, expected for example {_EXAMPLE}")
        if assertion["type"] != "assert-set":
            yield assertion
            continue
        for inner in assertion.get("assert") or []:
            if isinstance(inner, dict) and inner.get("type") == "assert-set":
                raise InputError(f"{place}: assert: found a set in a set, expected assertions in it")
            yield from _open([inner], templates=templates, place=place)


def _read_threshold(value: object, *, place: str) -> float:
    threshold = read_score(value)
    if threshold is None or not 0 <= threshold <= 1:
        raise InputError(f"{place}: threshold: found {value!r}, expected a number from 0 to 1")
    return threshold


def _list_known() -> str:
    known = [
        f"{alias.removeprefix(_ALIAS)} is ({formula.id})"
        for formula in FORMULAS
        for alias in formula.aliases
        if alias.startswith(_ALIAS)
    ]
    return ", ".join(known)
