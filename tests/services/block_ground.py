"""Traces that are scored, the monitor's counting of them, and the same counted by hand."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import FREE, FREE_PRINT, make_result, make_trace, plan_free, plan_paid
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.storage.erasure import Erasing, erase
from ragsonde.storage.erasure_choice import ErasureChoice
from ragsonde.storage.rescored import RescoredEvaluation, store_rescored
from ragsonde.storage.score_blocks import build_blocks, read_blocks
from ragsonde.watching.block_jobs import BlockChores
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.score import Score
from ragsonde_schemas.score_stream import ScoreStream
from services.stores import PostgresStores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Engine

    from ragsonde_schemas.evaluation import Admission
    from ragsonde_schemas.score_stream import ScoreBlock

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
FAR_AHEAD = datetime(2100, 1, 1, tzinfo=UTC)
STRATUM = "head:other truncated"
"""Of what `fakes.evaluations` makes."""


class Counted(NamedTuple):
    """What matters of a block, told by hand."""

    scorer: str
    version: str
    judge: str
    app: str
    environment: str
    start: datetime
    stratum: str
    n: int
    total: float
    squares: float
    failed: int
    bins: tuple[tuple[int, int], ...]


class Outcome(NamedTuple):
    """A score that counts, or an error (raw None)."""

    scorer: str
    version: str
    judge: str
    app: str
    environment: str
    occurred_at: datetime
    raw: float | None
    stratum: str = STRATUM


def count_by_hand(outcomes: Iterable[Outcome]) -> list[Counted]:
    """The blocks of outcomes: by plain loops and decimal numbers."""
    gathered: dict[tuple[Any, ...], list[float | None]] = defaultdict(list)
    for one in outcomes:
        moment = one.occurred_at
        start = moment.replace(minute=moment.minute // 5 * 5, second=0, microsecond=0)
        gathered[(*one[:5], start, one.stratum)].append(one.raw)
    blocks = []
    for key, raws in gathered.items():
        scored = [Decimal(str(raw)) for raw in raws if raw is not None]
        bins = Counter(math.ceil(raw * 100) for raw in scored)
        total, squares = sum(scored), sum(raw * raw for raw in scored)
        failed = len(raws) - len(scored)
        sums = (round(float(total), 6), round(float(squares), 6))
        blocks.append(Counted(*key, len(scored), *sums, failed, tuple(sorted(bins.items()))))
    return sorted(blocks)


def tell(blocks: Iterable[ScoreBlock]) -> list[Counted]:
    """Stored blocks, in the same form."""
    return sorted(
        Counted(
            *(block.stream.scorer, block.stream.version, block.stream.judge),
            *(block.stream.app, block.stream.environment, block.start, block.stratum),
            *(block.n, round(block.total, 6), round(block.squares, 6), block.failed),
            tuple((bin_, n) for bin_, n in enumerate(block.histogram) if n),
        )
        for block in blocks
    )


class BlockGround:
    """A real Postgres, a clock of ours, steps of workers, people and the monitor."""

    def __init__(self, engine: Engine, clock: FakeClock | None = None, **chores: Any) -> None:  # noqa: ANN401 - as given on
        self.engine = engine
        self.clock = clock or FakeClock()
        self.stores = PostgresStores(self.clock, engine)
        self.series = Series(MONITOR_SERIES)
        given = {"engine": engine, "series": self.series, "clock": self.clock, "kept_days": 90}
        self.chores = BlockChores(**{**given, **chores})

    def begin(self) -> None:
        """The monitor has run before, and has counted everything."""
        self.chores.count()
        with self.engine.begin() as connection:
            connection.execute(text("DELETE FROM dirty_mark"))

    def restart(self) -> None:
        """Another monitor takes over, which has seen nothing."""
        self.chores = replace(self.chores)

    def admit(self, trace_id: str, *, raw: float = 0.8, paid: bool = False, **fields: Any) -> Admission:  # noqa: ANN401 - of a trace
        """A trace that the free judge has scored, and the paid one will."""
        fields = {"occurred_at": self.clock.now(), "answer": f"{trace_id} {raw}", **fields}
        planned = (plan_free(raw), plan_paid()) if paid else (plan_free(raw),)
        return self.stores.traces.admit(make_trace(trace_id, **fields), planned)

    def finish(self, key: EvaluationKey, **result: Any) -> None:  # noqa: ANN401 - of `make_result`
        claimed = self.stores.traces.claim(key)
        assert claimed is not None
        self.stores.traces.finish(claimed, make_result(**result))

    def rescore(self, admission: Admission, *, raw: float, version: str = "2:answer") -> None:
        key = EvaluationKey(
            trace=admission.key, revision=admission.revision, judge=FREE, fingerprint=FREE_PRINT
        )
        score = make_result(raw=raw).outcomes[0]
        assert isinstance(score, Score)
        other = score.model_copy(update={"version": version})
        rescored = RescoredEvaluation(key=key, assessment=None, judged_at=self.clock.now(), outcomes=(other,))
        store_rescored(self.engine, [rescored])

    def forget(self, trace_id: str) -> None:
        erase(
            self.engine,
            ErasureChoice(trace=trace_id, stored_traces=(trace_id,)),
            Erasing(now=self.clock.now(), keep_tombstones_days=91),
        )

    def count(self, *, minutes: float = 0.0) -> None:
        """A run of the monitor's job, after so many minutes."""
        self.clock.advance(60 * minutes)
        self.chores.count()

    def read(self) -> list[Counted]:
        return tell(self.read_values())

    def read_values(self) -> tuple[ScoreBlock, ...]:
        names = ("id", "scorer", "version", "judge", "fingerprint", "judge_epoch", "app", "environment")
        rows = self.query(f"SELECT {', '.join(names)} FROM score_stream")  # noqa: S608 - constants
        known = {number: ScoreStream(**dict(zip(names[1:], key, strict=True))) for number, *key in rows}
        return build_blocks(read_blocks(self.engine, known, since=LONG_AGO, until=FAR_AHEAD), known)

    def query(self, statement: str, **columns: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - any value
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), columns)]

    def list_marks(self) -> list[tuple[str | None, datetime]]:
        """App and begin of each marked block, and of each stretch."""
        return sorted(self.query("SELECT DISTINCT app, since FROM dirty_mark ORDER BY 1, 2"))


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)
