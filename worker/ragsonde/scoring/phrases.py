"""Parts of sentences that reasons are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragsonde_schemas.assessment import ContextVerdict

_MOST_NAMED = 10
_LONGEST_REASON = 160
_LONGEST_ITEM = 80


def join_words(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; what is beyond ten is only counted."""
    if len(words) > _MOST_NAMED:
        words = [*words[:_MOST_NAMED], f"{len(words) - _MOST_NAMED} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def count(number: int, noun: str) -> str:
    """`1 context`, `2 contexts`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def name_some(numbers: Sequence[str], *, total: int, noun: str = "context") -> str:
    """`contexts 2 and 3 of 4`, `all 4 contexts`, `the only context`, `none of 4 contexts`."""
    if not 0 < len(numbers) < total:
        return count_some(len(numbers), total=total, noun=noun)
    return f"{noun if len(numbers) == 1 else noun + 's'} {join_words(numbers)} of {total}"


def count_some(number: int, *, total: int, noun: str) -> str:
    """`2 of 4 sentences`, `all 4 sentences`, `the only sentence`, `none of 4 sentences`."""
    if number == total:
        return f"the only {noun}" if total == 1 else f"all {total} {noun}s"
    return f"{number or 'none'} of {count(total, noun)}"


def verb(number: int, *, singular: str, plural: str) -> str:
    """The form of the verb for none, one (singular) or many."""
    return singular if number <= 1 else plural


def quote(items: Sequence[str]) -> str:
    """`"a" and "b"`, each shortened."""
    return join_words([f'"{shorten(item, most=_LONGEST_ITEM)}"' for item in items])


def shorten(text: str, *, most: int) -> str:
    """The text on one line, at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3].rstrip() + "..."


def quote_reasons(verdicts: Mapping[str, ContextVerdict] | None) -> str:
    """`. Context 2: because` for the first ten contexts whose verdict has a reason; '' where none has."""
    given = [(number, verdict.reason) for number, verdict in (verdicts or {}).items() if verdict.reason]
    return "".join(
        f". Context {number}: {shorten(reason, most=_LONGEST_REASON).rstrip('.')}"
        for number, reason in given[:_MOST_NAMED]
    )


def describe_order(numbers: Sequence[str], *, total: int) -> str:
    """What ordering did, e.g. `none at the top`, `in the best order`; '' where it cannot matter."""
    if not numbers or len(numbers) == total:
        return ""
    if [int(number) for number in numbers] == list(range(1, len(numbers) + 1)):
        return "in the best order"
    return "one at the top, the others lower" if numbers[0] == "1" else "none at the top"


def describe_mismatch(given: Iterable[str], *, expected: Iterable[str]) -> str:
    """`3 verdicts for 4 contexts: missing number 3; unknown number 7`."""
    given_numbers, expected_numbers = frozenset(given), frozenset(expected)
    differences = (
        ("missing", expected_numbers - given_numbers),
        ("unknown", given_numbers - expected_numbers),
    )
    parts = [
        f"{what} {'number' if len(numbers) == 1 else 'numbers'} "
        + join_words(sorted(numbers, key=lambda number: (len(number), number)))
        for what, numbers in differences
        if numbers
    ]
    counted = f"{count(len(given_numbers), 'verdict')} for {count(len(expected_numbers), 'context')}"
    return f"{counted}: {'; '.join(parts)}"
