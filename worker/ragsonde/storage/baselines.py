"""Baselines, stored so that they can be built again to the last digit."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import text

from ragsonde.regression.baseline import Baseline, BaselineKind
from ragsonde.regression.blocks import find_block
from ragsonde.regression.strata import Cells
from ragsonde.storage.jsonb import encode_json
from ragsonde_schemas.score_stream import block_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from sqlalchemy import Connection

_READ = text(
    """
SELECT id, stream_id, kind, since, until, judges_from, CAST(fitted AS text) AS fitted, failed_share, reason
FROM baseline WHERE replaced_at IS NULL AND stream_id = ANY(CAST(:streams AS int[]))
  AND NOT (kind = 'floor' AND reason IS NOT NULL)
ORDER BY stream_id, judges_from
"""
)
_WRITE = text(
    """
INSERT INTO baseline (stream_id, kind, since, until, judges_from, armed_at, fitted, failed_share, reason)
VALUES (:stream, :kind, :since, :until, :judges_from, :now, CAST(:fitted AS jsonb), :failed_share, :reason)
RETURNING id
"""
)
_REPLACE = text(
    """
UPDATE baseline SET replaced_at = :now
WHERE replaced_at IS NULL AND reason IS NULL AND stream_id = ANY(CAST(:streams AS int[]))
"""
)


_OUTGROW = text(
    """
UPDATE baseline b SET replaced_at = :now
FROM unnest(CAST(:streams AS int[]), CAST(:judges_from AS timestamptz[])) AS given(stream, judges_from)
WHERE b.stream_id = given.stream AND b.judges_from < given.judges_from
  AND b.replaced_at IS NULL AND b.reason IS NULL
"""
)


class StoredBaseline(NamedTuple):
    """A baseline of a stream.

    Attributes:
        number: None before it is stored.
        since, until, judges_from: blocks; it is of the traces from `since` to before `until`.
        failed_share: of the outcomes of its stretch, those that are errors.
        reason: of a person who made it.
    """

    number: int | None
    stream: int
    since: int
    until: int
    judges_from: int
    baseline: Baseline
    failed_share: float
    reason: str | None = None


def read_baselines(connection: Connection, streams: Collection[int]) -> dict[int, tuple[StoredBaseline, ...]]:
    """The baselines of streams that none has replaced, by stream, in the order in which they judge.

    Not a person's floor, which `chosen_baselines` reads: it stands beside them.
    """
    found: dict[int, tuple[StoredBaseline, ...]] = {}
    for row in connection.execute(_READ, {"streams": list(streams)}).all():
        one = StoredBaseline(
            number=row.id,
            stream=row.stream_id,
            since=number_block(row.since),
            until=number_block(row.until),
            judges_from=number_block(row.judges_from),
            baseline=_build(row.kind, row.fitted),
            failed_share=row.failed_share,
            reason=row.reason,
        )
        found[one.stream] = (*found.get(one.stream, ()), one)
    return found


def write_baseline(connection: Connection, given: StoredBaseline, *, now: datetime) -> StoredBaseline:
    """The same with the number that it is stored under."""
    columns = {
        "stream": given.stream,
        "kind": given.baseline.kind.value,
        "since": block_at(given.since),
        "until": block_at(given.until),
        "judges_from": block_at(given.judges_from),
        "now": now,
        "fitted": encode_json(describe_baseline(given.baseline)),
        "failed_share": given.failed_share,
        "reason": given.reason,
    }
    return given._replace(number=int(connection.execute(_WRITE, columns).scalar_one()))


def replace_baselines(connection: Connection, streams: Iterable[int], *, now: datetime) -> None:
    """Marks those as replaced that came by themselves; one that a person made stays."""
    connection.execute(_REPLACE, {"streams": list(streams), "now": now})


def outgrow_baselines(connection: Connection, judges_from: Mapping[int, int], *, now: datetime) -> None:
    """Marks those as replaced that came by themselves and judge from before a block; which, by stream."""
    columns = {
        "streams": list(judges_from),
        "judges_from": [block_at(block) for block in judges_from.values()],
        "now": now,
    }
    connection.execute(_OUTGROW, columns)


def describe_baseline(baseline: Baseline) -> dict[str, Any]:
    """All of it but its kind, for JSON: floats to the last digit, an infinite one as None."""
    return {
        "names": list(baseline.cells.names),
        "is_by_hour": baseline.cells.is_by_hour,
        "traces": baseline.traces.tolist(),
        "known": [one if np.isfinite(one) else None for one in baseline.known.tolist()],
        "means": baseline.means.tolist(),
        "levels": baseline.levels.tolist(),
        "is_watched": baseline.is_watched.tolist(),
        "variance": baseline.variance,
        "overdispersion": baseline.overdispersion,
        "clustering": baseline.clustering,
    }


def build_baseline(kind: str, fitted: Mapping[str, Any]) -> Baseline:
    """The baseline that `describe_baseline` described."""
    known = [np.inf if one is None else one for one in fitted["known"]]
    return Baseline(
        kind=BaselineKind(kind),
        cells=Cells(tuple(fitted["names"]), is_by_hour=fitted["is_by_hour"]),
        traces=np.array(fitted["traces"], dtype=np.int64),
        known=np.array(known, dtype=np.float64),
        means=np.array(fitted["means"], dtype=np.float64),
        levels=np.array(fitted["levels"], dtype=np.float64),
        is_watched=np.array(fitted["is_watched"], dtype=np.bool_),
        variance=float(fitted["variance"]),
        overdispersion=float(fitted["overdispersion"]),
        clustering=float(fitted["clustering"]),
    )


@lru_cache(maxsize=2_048)
def _build(kind: str, fitted: str) -> Baseline:
    """Once for every baseline, as those of a stream are read each time that it is judged."""
    return build_baseline(kind, json.loads(fitted))


def number_block(moment: datetime) -> int:
    """The number of the block that a moment lies in, in five minutes since the epoch."""
    return find_block(moment.timestamp())
