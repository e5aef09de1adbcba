"""Regular expressions of the user's: only such as take time that grows with the text and no faster.

Python's engine tries every way in which an expression may match. How many steps that can take from one place
of a text is bounded by the expression itself, where each of its repeats has an upper bound: so those without
one are refused, and so is what multiplies to too many.
"""

from __future__ import annotations

import re
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MOST_STEPS = 200
"""From one place of a text, at worst: 1 MiB takes a few seconds then, and mostly a hundredth of that."""
LONGEST_PATTERN = 500

_ASSERTIONS = {op.ASSERT, op.ASSERT_NOT}
_REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}


class _Effort(NamedTuple):
    """What matching a part of an expression may take from one place.

    Attributes:
        ways: in how many ways it may match.
        steps: how many steps all of them take together.
    """

    ways: int
    steps: int


_ONE = _Effort(1, 1)
_NOTHING = _Effort(1, 0)


def compile_own(pattern: str) -> re.Pattern[str]:
    """The compiled expression.

    Raises:
        ValueError: it is none, it can match nothing, or it may take too long; says what to write instead.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise ValueError(f"found {len(pattern)} characters, expected at most {LONGEST_PATTERN}")
    try:
        tree = parser.parse(pattern)
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from error
    if tree.getwidth()[0] == 0:
        raise ValueError("matches an empty text, expected one character at least")
    steps = _measure(tree).steps
    if steps > MOST_STEPS:
        raise ValueError(
            f"may take {_say(steps)} steps from one place of a text, expected at most {MOST_STEPS}: lower "
            "the upper bounds of its repeats, or split it in two"
        )
    return compiled


def _say(steps: int) -> str:
    return str(steps) if steps < 1_000_000 else "more than a million"  # noqa: PLR2004 - the number it says


def _measure(items: Any) -> _Effort:  # noqa: ANN401 - the parser's own tree
    """The effort of parts that follow each other: for each way of one, all of the next."""
    total = _NOTHING
    for code, argument in reversed(list(items)):
        part = _measure_part(code, argument)
        total = _Effort(_cap(part.ways * total.ways), _cap(part.steps + part.ways * total.steps))
    return total


def _measure_part(code: Any, argument: Any) -> _Effort:  # noqa: ANN401 - as above
    if code in _REPEATS:
        return _measure_repeat(code, argument)
    if code is op.BRANCH:
        parts = [_measure(branch) for branch in argument[1]]
        return _Effort(_cap(sum(one.ways for one in parts)), _cap(sum(one.steps for one in parts)))
    if code is op.SUBPATTERN:
        return _measure(argument[-1])
    if code is op.ATOMIC_GROUP:
        return _Effort(1, _measure(argument).steps)
    if code in _ASSERTIONS:
        return _Effort(1, _measure(argument[1]).steps)
    if code in {op.GROUPREF, op.GROUPREF_EXISTS, op.GROUPREF_IGNORE}:
        raise ValueError("refers back to a group, which is not possible here: write the text out")
    return _NOTHING if code is op.AT else _ONE


def _measure_repeat(code: Any, argument: Any) -> _Effort:  # noqa: ANN401 - as above
    least, most, body = argument
    if most is op.MAXREPEAT:
        raise ValueError(
            "has a repeat without an upper bound (+, * or {n,}), which may take for ever: write for example "
            "{1,40} in its place"
        )
    if most > LONGEST_PATTERN:
        raise ValueError(f"repeats up to {most} times, expected at most {LONGEST_PATTERN}")
    one = _measure(body)
    ways, steps, reached = (1 if least == 0 else 0), 0, 1
    for count in range(1, most + 1):
        steps = _cap(steps + reached * one.steps)
        reached = _cap(reached * one.ways)
        ways = _cap(ways + reached) if count >= least else ways
    return _Effort(1 if code is op.POSSESSIVE_REPEAT else max(1, ways), steps)


def _cap(number: int) -> int:
    return min(number, 10**9)
