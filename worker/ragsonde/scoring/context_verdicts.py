"""The `contexts` of a recorded assessment: one verdict object for each context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.scoring.faults import refuse
from ragsonde.scoring.options import describe
from ragsonde.scoring.phrases import describe_mismatch
from ragsonde.scoring.rounding import is_finite_throughout
from ragsonde.scoring.verdict_numbers import TraceNumbers, read_number, show_number
from ragsonde.scoring.verdict_words import read_flag, read_level, read_text
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, ContextVerdict, Fault, Level
from ragsonde_schemas.errors import Cause

if TYPE_CHECKING:
    from collections.abc import Callable

Verdict = bool | Level
Faults = dict[Aspect, Fault]

_READERS: dict[Aspect, Callable[[object], Verdict | None]] = dict.fromkeys(PER_CONTEXT, read_flag) | {
    Aspect.LEVEL: read_level
}
_EXPECTED = dict.fromkeys(PER_CONTEXT, "yes or no") | {Aspect.LEVEL: "high, medium, low or none"}
_OF_BLANK: dict[Aspect, Verdict] = dict.fromkeys(PER_CONTEXT, False) | {Aspect.LEVEL: Level.NONE}
_MOST_PROBLEMS = 5


class _Rows(NamedTuple):
    """The verdict objects by context number, repeats included, and what could not be one (cause, message)."""

    entries: list[tuple[str, Mapping[object, object]]]
    problems: list[tuple[Cause, str]]


def read_context_verdicts(
    raw: object, *, numbers: TraceNumbers, asked: frozenset[Aspect]
) -> tuple[dict[str, ContextVerdict] | None, Faults]:
    """Verdicts of every context of the trace by number, and the aspects that cannot be used.

    An aspect is assessed when any entry has it; then every context that is not blank must have it, once or in
    identical repeats. Blank contexts get irrelevant, none, unused, whatever is said about them.

    Args:
        raw: number -> object, or a list of objects with `number`; None for not assessed.
        numbers: of the trace.
        asked: the aspects to read; others than per-context ones are passed over.
    """
    wanted = [aspect for aspect in Aspect if aspect in asked and aspect in PER_CONTEXT]
    if raw is None or not wanted:
        return None, {}
    if not isinstance(raw, Mapping | list | tuple) or not is_finite_throughout(raw):
        return None, dict.fromkeys(wanted, refuse(raw, expected="an object by context number"))
    rows = _list_rows(raw, numbers=numbers)
    given = [aspect for aspect in wanted if any(entry.get(aspect) is not None for _, entry in rows.entries)]
    is_unusable = rows.problems or any(number not in numbers.contexts for number, _ in rows.entries)
    if not given and (is_unusable or (numbers.judged and not rows.entries)):
        given = wanted
    faults: Faults = {}
    columns: dict[Aspect, dict[str, Verdict]] = {}
    for aspect in given:
        column = _read_column(aspect, rows=rows, numbers=numbers)
        if isinstance(column, Fault):
            faults[aspect] = column
        else:
            columns[aspect] = column
    return _join_columns(columns, rows=rows, numbers=numbers), faults


def _list_rows(
    raw: Mapping[object, object] | list[object] | tuple[object, ...], *, numbers: TraceNumbers
) -> _Rows:
    rows = _Rows([], [])
    named: Any = raw.items() if isinstance(raw, Mapping) else ((_name_of(entry), entry) for entry in raw)
    for name, entry in named:
        number = read_number(name)
        if number is None:
            rows.problems.append(
                (Cause.VERDICT_MISMATCH, f"found {describe(name)} as the number of a context")
            )
        elif isinstance(entry, Mapping):
            rows.entries.append((number if number in numbers.contexts else show_number(number), entry))
        elif number not in numbers.blank:
            message = f"context {show_number(number)}: found {describe(entry)}, expected an object"
            rows.problems.append((Cause.INVALID_VERDICT, message))
    return rows


def _name_of(entry: object) -> object:
    return entry.get("number") if isinstance(entry, Mapping) else None


def _read_column(aspect: Aspect, *, rows: _Rows, numbers: TraceNumbers) -> dict[str, Verdict] | Fault:
    """The verdicts of one aspect by number, or one fault that names all that is wrong, for the repair."""
    verdicts: dict[str, Verdict] = {}
    given: set[str] = set()
    problems = list(rows.problems)
    for number, entry in rows.entries:
        value = entry.get(aspect)
        if number not in numbers.contexts:
            given.add(number)
        if value is None or number not in numbers.judged:
            continue
        given.add(number)
        verdict = _READERS[aspect](value)
        if verdict is None:
            message = f"context {number}: found {describe(value)}, expected {_EXPECTED[aspect]}"
            problems.append((Cause.INVALID_VERDICT, message))
        elif verdicts.setdefault(number, verdict) != verdict:
            problems.append((Cause.VERDICT_MISMATCH, f"context {number}: found contradicting verdicts"))
    if given != numbers.judged:
        problems.append((Cause.VERDICT_MISMATCH, describe_mismatch(given, expected=numbers.judged)))
    if not problems:
        return {**verdicts, **dict.fromkeys(numbers.blank, _OF_BLANK[aspect])}
    messages = [message for _, message in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        messages.append(f"and {len(problems) - _MOST_PROBLEMS} more")
    return Fault(cause=problems[0][0], message="; ".join(messages))


def _join_columns(
    columns: dict[Aspect, dict[str, Verdict]], *, rows: _Rows, numbers: TraceNumbers
) -> dict[str, ContextVerdict]:
    reasons: dict[str, str | None] = {}
    for number, entry in rows.entries:
        if number not in numbers.blank:
            reasons[number] = (
                reasons.get(number) or read_text(entry.get("reason")) or read_text(entry.get("why"))
            )
    return {
        number: ContextVerdict.model_validate(
            {aspect.value: column[number] for aspect, column in columns.items()}
            | {"reason": reasons.get(number)}
        )
        for number in numbers.contexts
    }
