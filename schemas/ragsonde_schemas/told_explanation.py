"""The explanation of a fall, read so that one of another version of the program is told as far as it goes.

It is kept as JSON for as long as the fall is: what is missing, or of another shape than is expected here, is
left out, and the rest is read.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", bound=Value)


class ToldStratum(Value):
    """A kind of traces that fell, by how much, and of how many traces that is."""

    stratum: str
    drop: float
    n: int


class ToldTrace(Value):
    """One of the lowest scores; `occurred_at` as it is kept."""

    trace_id: str
    raw: float
    occurred_at: str = ""


class ToldChange(Value):
    """Something that was first seen near the beginning of a fall, such as a release; `at` as it is kept."""

    kind: str
    name: str
    at: str


class ToldRecovery(Value):
    """The mean since scores are up again, and how far it lies below the baseline."""

    mean: float
    drop: float | None = None


class ToldExplanation(Value):
    """Numbers, names and ids of traces; None and () are what is not known.

    Attributes:
        drop, drop_lower, drop_upper: how far the mean of traces of the same kind fell, and its interval.
        mix_shift: how much further the plain mean fell because there are more traces of the hard kinds.
        mean: since the fall began.
        n: traces since then, when it was told.
        evidence_days: chance alone shows as much about once in so many.
        overdispersion: phi of hours.
    """

    drop: float | None = None
    drop_lower: float | None = None
    drop_upper: float | None = None
    mix_shift: float | None = None
    baseline_mean: float | None = None
    baseline_kind: str | None = None
    mean: float | None = None
    n: int | None = None
    evidence_days: float | None = None
    overdispersion: float | None = None
    worst_strata: tuple[ToldStratum, ...] = ()
    traces: tuple[ToldTrace, ...] = ()
    changes: tuple[ToldChange, ...] = ()
    recovery: ToldRecovery | None = None


_LISTS: dict[str, type[Value]] = {"worst_strata": ToldStratum, "traces": ToldTrace, "changes": ToldChange}
_NUMBER: TypeAdapter[Any] = TypeAdapter(float | None)
_PARTS: dict[str, TypeAdapter[Any]] = {
    **dict.fromkeys(("drop", "drop_lower", "drop_upper", "mix_shift", "baseline_mean", "mean"), _NUMBER),
    **dict.fromkeys(("evidence_days", "overdispersion"), _NUMBER),
    "baseline_kind": TypeAdapter(str | None),
    "n": TypeAdapter(int | None),
}


def read_explanation(told: Mapping[str, Any]) -> ToldExplanation:
    """What can be read of an explanation; never an error."""
    found: dict[str, Any] = {}
    for name, part in _PARTS.items():
        with suppress(ValidationError):
            found[name] = part.validate_python(told.get(name))
    for name, kind in _LISTS.items():
        stored = told.get(name)
        items = stored if isinstance(stored, list) else ()
        found[name] = tuple(read for one in items if (read := _read(one, kind)) is not None)
    return ToldExplanation(**found, recovery=_read(told.get("recovery"), ToldRecovery))


def _read(stored: object, kind: type[T]) -> T | None:
    """Without the keys of another version; None of what is of another shape."""
    if not isinstance(stored, dict):
        return None
    try:
        return kind.model_validate({key: stored[key] for key in kind.model_fields if key in stored})
    except ValidationError:
        return None
