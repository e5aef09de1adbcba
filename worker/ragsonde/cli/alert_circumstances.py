"""What was other than before near the beginning of a fall, in words; what is strange is passed over.

An explanation may be of another version of the program: keys that are not known are left to `--output json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def tell_circumstances(told: Mapping[str, Any]) -> Iterator[str]:
    """The sentences of `AlertCircumstances`, as it stands in an explanation."""
    for key, tell in _TELLERS.items():
        value = told.get(key)
        if isinstance(value, dict):
            try:
                lines = list(tell(value))
            except (KeyError, TypeError, ValueError):
                continue  # of another version
            yield from lines


def _tell_extraction(value: Mapping[str, Any]) -> Iterator[str]:
    moved = value["moved"]
    if moved:
        yield "fields are found by other rules than before:"
    else:
        yield "fields are found by the same rules as before"
    for one in moved:
        shares = f"{_share(one['before'])} of the traces before, {_share(one['after'])} now"
        yield f"  {one['field']} by {one['rule']}: {shares}"


def _tell_contexts(value: Mapping[str, Any]) -> Iterator[str]:
    for key, what, digits in (
        ("count", "contexts a trace", 1),
        ("characters", "characters of contexts a trace", 0),
    ):
        if key in value:
            before, after = value[key]["before"], value[key]["after"]
            yield (
                f"{what}: {before['mean']:.{digits}f} before, {after['mean']:.{digits}f} now "
                f"(half of them at most {before['p50']:.0f}, now {after['p50']:.0f})"
            )


def _tell_check_set(value: Mapping[str, Any]) -> Iterator[str]:
    n = value["n"]
    traces = f"the same {n:,} trace{'s' * (n != 1)} of the check set"
    if value["has_moved"]:
        yield (
            f"the judge itself moved: it scores {traces} {value['drift']:+.3f} "
            f"now ({value['before']:.3f} before, {value['after']:.3f} now); look at the judge first"
        )
    elif value.get("is_steady"):
        yield f"the judge did not move: {traces} score{'s' * (n == 1)} {value['drift']:+.3f} now"
    else:
        yield (
            f"whether the judge moved is not known: {traces} score{'s' * (n == 1)} "
            f"{value['drift']:+.3f} now, too few or too different to tell"
        )


def _tell_answers(value: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "answers changed, retrieval probably not: contexts fit questions as before "
        f"({value['retrieval_before']:.3f}, now {value['retrieval_after']:.3f})"
    )
    if value["answer_before"] is not None and value["answer_after"] is not None:
        before, after = value["answer_before"], value["answer_after"]
        yield f"  contexts fit question and answer: {before:.3f} before, {after:.3f} now"
    before, after = _share(value["declined_before"]), _share(value["declined_after"])
    yield f"  answers that decline: {before} before, {after} now"


def _share(value: float) -> str:
    return f"{value:.0%}"


_TELLERS: dict[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "extraction": _tell_extraction,
    "contexts": _tell_contexts,
    "check_set": _tell_check_set,
    "answers": _tell_answers,
}
