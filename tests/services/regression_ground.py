"""Blocks of made-up streams in a real Postgres, and the monitor's judging of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import text

from fakes.clock import FakeClock
from ragsonde.regression.options import RegressionOptions
from ragsonde.storage.baselines import number_block
from ragsonde.storage.partitions import ensure_day
from ragsonde.storage.regression_states import read_states
from ragsonde.watching.jobs import RegressionChores
from ragsonde_schemas.score_stream import block_at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.regression.blocks import BlockCounts
    from ragsonde.storage.regression_states import StoredState

_ADD_STREAM = text(
    """
INSERT INTO score_stream (
    scorer, version, judge, fingerprint, judge_epoch, app, environment, first_seen_at)
VALUES (:scorer, :version, :judge, :fingerprint, 1, :app, :environment, :now)
ON CONFLICT (scorer, version, judge, fingerprint, judge_epoch, app, environment)
DO UPDATE SET first_seen_at = least(score_stream.first_seen_at, excluded.first_seen_at) RETURNING id
"""
)
_DELETE = text("DELETE FROM score_block WHERE stream_id = :stream AND start = ANY(:starts)")
_INSERT = text(
    """
INSERT INTO score_block (stream_id, start, stratum, day, n, total, squares, failed, bins, counts, built_at)
SELECT :stream, start, stratum, CAST(start AS date), n,
    (SELECT coalesce(sum(bin * c / 100.0), 0) FROM unnest(bins, counts) AS u(bin, c)),
    (SELECT coalesce(sum(bin * bin * c / 10000.0), 0) FROM unnest(bins, counts) AS u(bin, c)),
    failed, bins, counts, now()
FROM json_to_recordset(CAST(:rows AS json)) AS r(
    start timestamptz, stratum text, n int, failed int, bins smallint[], counts int[])
"""
)
# as `note_change` does, for all blocks at once
_NOTE = text(
    "INSERT INTO block_change (stream_id, start) SELECT :stream, unnest(CAST(:starts AS timestamptz[]))"
)
_CLOSE = text(
    """
INSERT INTO score_block_cursor (id, scanned_until, closed_until) VALUES (1, :until, :until)
ON CONFLICT (id) DO UPDATE SET closed_until = excluded.closed_until
"""
)


class RegressionGround:
    """Streams whose first block is `first`; blocks are counted and closed by the tests."""

    def __init__(self, engine: Engine, *, begin: datetime | None = None, **chores: Any) -> None:  # noqa: ANN401
        self.engine = engine
        self.clock = FakeClock() if begin is None else FakeClock(begin)
        self.first = number_block(self.clock.now()) // 288 * 288
        given = {"engine": engine, "clock": self.clock, "options": RegressionOptions()}
        self.chores = RegressionChores(**{**given, **chores})

    def restart(self) -> RegressionChores:
        """Another monitor."""
        self.chores = replace(self.chores)
        return self.chores

    def add_stream(self, **columns: str) -> int:
        """A stream of context_precision by a judge `lexical`, in the app `shop`, but for what is given.

        One that is there already begins earlier.
        """
        usual = {"scorer": "context_precision", "version": "1", "judge": "lexical", "fingerprint": "f"}
        given = {**usual, "app": "shop", "environment": "prod", **columns, "now": self.clock.now()}
        with self.engine.begin() as connection:
            return int(connection.execute(_ADD_STREAM, given).scalar_one())

    def shift(self, counts: BlockCounts) -> BlockCounts:
        """The same, from the first block on."""
        return replace(counts, block=counts.block + self.first)

    def count(self, stream: int, counts: BlockCounts, *, failed: Mapping[int, int] | None = None) -> None:
        """Counts blocks of a stream, in the place of what they were; `counts` begin with block 0."""
        rows = [
            {**row, "failed": (failed or {}).get(block, 0), "start": block_at(self.first + block).isoformat()}
            for block, row in _list_rows(counts)
        ]
        starts = sorted({block_at(self.first + int(block)) for block in np.unique(counts.block)})
        for day in sorted({start.date() for start in starts}):
            ensure_day(self.engine, day=day, tables=("score_block",))
        with self.engine.begin() as connection:
            connection.execute(_DELETE, {"stream": stream, "starts": starts})
            connection.execute(_INSERT, {"stream": stream, "rows": json.dumps(rows)})
            connection.execute(_NOTE, {"stream": stream, "starts": starts})

    def close(self, block: int) -> None:
        """Closes all blocks before this one, and sets the clock to ten minutes later."""
        until = block_at(self.first + block)
        with self.engine.begin() as connection:
            connection.execute(_CLOSE, {"until": until})
        self.clock.advance((until + timedelta(minutes=10) - self.clock.now()).total_seconds())

    def judge(self, *, until: int) -> None:
        """A run of the job, with all blocks before that one closed."""
        self.close(until)
        self.chores.judge()

    def read_state(self, stream: int) -> StoredState:
        with self.engine.connect() as connection:
            return read_states(connection, [stream])[stream][-1]

    def list_alerts(self) -> list[dict[str, Any]]:
        with self.engine.connect() as connection:
            return [
                dict(row) for row in connection.execute(text("SELECT * FROM alert ORDER BY id")).mappings()
            ]

    def query(self, statement: str, **columns: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - any value
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), columns)]


def _list_rows(counts: BlockCounts) -> list[tuple[int, dict[str, Any]]]:
    rows: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for block, stratum, bin_, count in zip(
        *(getattr(counts, name).tolist() for name in ("block", "stratum", "bin", "count")), strict=True
    ):
        bins, numbers = rows.setdefault((block, stratum), ([], []))
        bins.append(bin_)
        numbers.append(count)
    return [
        (
            block,
            {"stratum": counts.strata[stratum] or "all", "n": sum(numbers), "bins": bins, "counts": numbers},
        )
        for (block, stratum), (bins, numbers) in rows.items()
    ]
