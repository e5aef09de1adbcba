"""Which texts stay when nothing waits for them: decided from a trace's own rows, so in any order, by anybody.

In the transaction that ends the last evaluation of a revision its texts go, or, where that one is the
admission itself, they are never written. What two workers leave, each seeing the other still at it, what a
newer revision replaced and what an earlier setting kept is found by `text_dropping`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ragsonde.redaction.wordless import WITHHELD, withhold_words
from ragsonde.storage.trace_rows import INSERT_TRACE_TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection
    from psycopg.rows import TupleRow

    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.trace import Trace

DRAWN_BELOW = "03"
"""Of the hex MD5 of a trace id: 3 in 256 traces stay whatever their scores, those that `ragsonde annotate`
draws first."""


class StoredTexts(StrEnum):
    """What `store_text` may say."""

    ALL = "all"
    WORST = "worst"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class TextRule:
    """Which texts stay once nothing waits for them.

    Attributes:
        keep: all until retention drops them, those of the worst traces, or none.
        limits: below which raw score a trace is one of the worst, by scorer; one that is not named never
            makes it one.
    """

    keep: StoredTexts = StoredTexts.ALL
    limits: Mapping[str, float] = field(default_factory=dict)

    def reduce_trace(self, trace: Trace) -> Trace:
        """The trace as its own table holds it: where no text is kept, without what may hold any."""
        if self.keep is not StoredTexts.NONE:
            return trace
        extraction = trace.extraction.model_copy(
            update={"warnings": (), "failure": trace.extraction.failure and WITHHELD}
        )
        return trace.model_copy(
            update={"metadata": {}, "extra": {}, "claimed_occurred_at": None, "extraction": extraction}
        )

    def reduce_verdicts(self, assessment: Assessment | None) -> Assessment | None:
        """Verdicts that were stored, as they may be used again: where no text is kept, without words.

        Those stored before the setting was changed have some.
        """
        if assessment is None or self.keep is not StoredTexts.NONE:
            return assessment
        return withhold_words(assessment)

    def reduce_calls(self, calls: tuple[JudgeCall, ...]) -> tuple[JudgeCall, ...]:
        """The calls as they are stored: where no text is kept, without the replies."""
        if self.keep is not StoredTexts.NONE:
            return calls
        return tuple(call.model_copy(update={"reply": ""}) for call in calls)

    @property
    def columns(self) -> dict[str, Any]:
        """The bound parameters of `STAYS`."""
        return {
            "keeps_worst": self.keep is StoredTexts.WORST,
            "limited_scorers": list(self.limits),
            "limits": list(self.limits.values()),
            "drawn_below": DRAWN_BELOW,
        }


ALL_TEXTS = TextRule()

OF_REVISION = """{0}.trace_id = x.trace_id AND {0}.app = x.app AND {0}.record_key = x.record_key
        AND {0}.revision = x.revision AND {0}.day = %(day)s"""
"""The day is a parameter and not `x.day`, so that only its own partitions are looked into."""

STAYS = f"""(
    EXISTS (
        SELECT FROM evaluation e WHERE {OF_REVISION.format("e")} AND e.state IN ('waiting', 'running'))
    OR %(keeps_worst)s AND NOT EXISTS (
        SELECT FROM trace n WHERE n.trace_id = x.trace_id AND n.app = x.app AND n.record_key = x.record_key
        AND n.day = %(day)s AND n.revision > x.revision)
    AND (md5(x.trace_id) COLLATE "C" < %(drawn_below)s OR EXISTS (
        SELECT FROM score s
        JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
        LEFT JOIN unnest(%(limited_scorers)s::text[], %(limits)s::float8[]) AS l(scorer, lowest)
            ON l.scorer = s.scorer
        WHERE {OF_REVISION.format("s")} AND e.state <> 'superseded'
        AND (s.status = 'error' OR s.raw < l.lowest)))
)"""  # noqa: S608  # constants
"""Of a revision `x`. `raw` and the limits have one measure whatever scale a score is told in."""

_TEXTS, _, _VALUES = INSERT_TRACE_TEXT.partition("VALUES")
_INSERT_NEEDED = f"""
{_TEXTS}
SELECT {_VALUES.strip().removeprefix("(").removesuffix(")")}
FROM (SELECT %(trace_id)s::text AS trace_id, %(app)s::text AS app, %(record_key)s::text AS record_key,
    %(revision)s::smallint AS revision, %(day)s::date AS day) x
WHERE {STAYS}
"""  # noqa: S608  # constants

_DROP = f"""
DELETE FROM trace_text x
WHERE x.trace_id = %(trace_id)s AND x.app = %(app)s AND x.record_key = %(record_key)s AND x.day = %(day)s
  AND x.revision <= %(revision)s AND NOT {STAYS}
"""  # noqa: S608  # constants


def insert_texts(connection: Connection[TupleRow], columns: Mapping[str, Any], rule: TextRule) -> None:
    """Sends the insert of a new revision's texts, unless nothing needs them.

    Args:
        connection: in the transaction that has stored its evaluations and scores: by them it is decided.
        columns: of the revision, texts included.
        rule: which stay.
    """
    if rule.keep is StoredTexts.ALL:
        connection.execute(INSERT_TRACE_TEXT, columns)
    else:
        connection.execute(_INSERT_NEEDED, {**columns, **rule.columns})


def drop_own_texts(connection: Connection[TupleRow], columns: Mapping[str, Any], rule: TextRule) -> None:
    """Sends the delete of a record's texts that nothing needs, those of older revisions too.

    Args:
        connection: in the transaction in which an evaluation ended or was superseded.
        columns: that name the revision.
        rule: which stay.
    """
    if rule.keep is not StoredTexts.ALL:
        connection.execute(_DROP, {**columns, **rule.columns})
