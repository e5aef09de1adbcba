"""`ragsonde evaluate --against`: how far a judge agrees with what people annotated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.api.agreement import compare_assessments
from ragsonde.cli.terminal import make_console, make_table, show, write_json, write_note
from ragsonde.judging.recorded import RecordedJudge
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.api.agreement import AspectAgreement
    from ragsonde.api.report import ItemResult
    from ragsonde.api.traces import Item
    from ragsonde_schemas.assessment import Assessment

_EVERY_ASPECT = frozenset(Aspect)
_SHOWN_PROBLEMS = 5


class Agreement(NamedTuple):
    """How far the judge agrees with the annotations.

    Attributes:
        compared: traces about which both said something.
        not_annotated: traces of the file that were left out.
        not_found: annotated traces that are not in the file.
        not_judged: annotated traces of which the judge gave no verdicts.
        problems: annotations that cannot be used, each with trace, aspect and why.
    """

    aspects: tuple[AspectAgreement, ...]
    compared: int
    not_annotated: int
    not_found: int
    not_judged: int
    problems: tuple[str, ...]


class Annotations:
    """People's verdicts from a file, for the traces that are evaluated.

    Raises:
        InputError: the file cannot be read, a line of it is no annotation, or none of the traces is in it.
    """

    def __init__(self, path: str, items: Sequence[Item]) -> None:
        self._people = RecordedJudge(name="people", path=Path(path), called="annotations")
        self._all = len(items)
        known = {item.trace.trace_id for item in items}
        self.items = [item for item in items if item.trace.trace_id in self._people.trace_ids]
        self._not_found = len(self._people.trace_ids - known)
        if not self.items:
            raise InputError(
                f"--against {path}: none of its {len(self._people.trace_ids)} annotated traces is among the "
                f"{len(items)} traces of the file; nothing was judged: trace_id must be the same in both"
            )

    def compare(self, results: Sequence[ItemResult]) -> Agreement:
        """The agreement of the judge whose results these are."""
        pairs = []
        problems = []
        not_judged = 0
        for result in results:
            judged = result.result.assessment if result.result else None
            if judged is None:
                not_judged += 1
                continue
            people = self._people.assess(result.trace, _EVERY_ASPECT)
            problems += _list_problems(result.trace.trace_id, people)
            pairs.append((result.trace, people, judged))
        return Agreement(
            aspects=compare_assessments(pairs),
            compared=len(pairs),
            not_annotated=self._all - len(self.items),
            not_found=self._not_found,
            not_judged=not_judged,
            problems=tuple(problems),
        )


def read_annotations(path: str | None, items: Sequence[Item], *, form: str) -> Annotations | None:
    """The annotations that `--against` names, None where it is not given.

    Raises:
        InputError: as for `Annotations`, or the form of the output has no place for an agreement.
    """
    if path is None:
        return None
    if form == "junit":
        raise InputError("--against: junit has no place for an agreement; expected --output table or json")
    return Annotations(path, items)


def print_agreement(agreement: Agreement, *, as_json: bool) -> None:
    """Prints it to standard output, what cannot be used of the annotations to standard error."""
    for problem in agreement.problems[:_SHOWN_PROBLEMS]:
        write_note(f"annotation left out: {problem}")
    if len(agreement.problems) > _SHOWN_PROBLEMS:
        write_note(f"and {len(agreement.problems) - _SHOWN_PROBLEMS} more")
    if as_json:
        write_json({"agreement": describe_agreement(agreement)})
    else:
        _print_table(agreement)


def describe_agreement(agreement: Agreement) -> dict[str, Any]:
    """The agreement as one JSON value; `accuracy` and `kappa` are null where they are not defined."""
    return {
        "traces": agreement.compared,
        "not_annotated": agreement.not_annotated,
        "not_found": agreement.not_found,
        "not_judged": agreement.not_judged,
        "unusable_annotations": list(agreement.problems),
        "aspects": describe_aspects(agreement.aspects),
    }


def describe_aspects(aspects: Sequence[AspectAgreement]) -> dict[str, Any]:
    """By aspect, how far two judges agree."""
    return {
        one.aspect: {
            "n": one.n,
            "accuracy": one.accuracy,
            "kappa": one.kappa,
            "note": one.note,
            "labels": list(one.labels),
            "confusion": [list(row) for row in one.confusion],
        }
        for one in aspects
    }


def print_aspects(aspects: Sequence[AspectAgreement], *, confusion: str) -> None:
    """Prints a line an aspect; `confusion` is the heading of its last column."""
    table = make_table("aspect", "n", "accuracy", "kappa", confusion, right=("n",))
    for one in aspects:
        table.add_row(
            show(one.aspect),
            show(str(one.n)),
            show(_show_number(one.accuracy)),
            show(_show_number(one.kappa)),
            show(one.note or "") if not one.n else show(_show_confusion(one)),
        )
    make_console().print(table)


def _list_problems(trace_id: str, people: Assessment) -> list[str]:
    return [f"trace {trace_id}: {aspect}: {fault.message}" for aspect, fault in people.faults.items()]


def _print_table(agreement: Agreement) -> None:
    console = make_console()
    console.print(show(f"\nAgreement with people over {agreement.compared} annotated traces", "bold"))
    print_aspects(agreement.aspects, confusion="people said: judge said")
    for line in _list_notes(agreement):
        console.print(show(line, "dim"))


def _list_notes(agreement: Agreement) -> list[str]:
    notes = [f"{one.aspect}: {one.note}" for one in agreement.aspects if one.n and one.note]
    counts = (
        (agreement.not_annotated, "traces of the file are not annotated: they were not judged"),
        (agreement.not_found, "annotated traces are not in the file"),
        (agreement.not_judged, "annotated traces have no verdicts of the judge"),
        (len(agreement.problems), "annotations cannot be used and were left out"),
    )
    return notes + [f"{count} {words}" for count, words in counts if count]


def _show_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _show_confusion(one: AspectAgreement) -> str:
    """A line for each verdict of people that occurs: `yes: 12 yes, 3 no`."""
    return "\n".join(
        f"{label}: " + ", ".join(f"{count} {other}" for other, count in zip(one.labels, row, strict=True))
        for label, row in zip(one.labels, one.confusion, strict=True)
        if any(row)
    )
