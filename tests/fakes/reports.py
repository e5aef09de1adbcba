"""Reports to owners, made up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ragsonde.reporting.report import (
    AgreementLine,
    Change,
    FallLine,
    JudgeCost,
    JudgeLine,
    Move,
    OwnersReport,
    PageBudget,
    PlaceReport,
    Reason,
    ReleaseLine,
    ReleaseScore,
    ScorerLine,
    Span,
    WorstTrace,
)
from ragsonde_schemas.check import Drift

UNTIL = datetime(2026, 6, 30, tzinfo=UTC)
SINCE = UNTIL - timedelta(days=30)
DAY = timedelta(days=1)


def make_line(**fields: object) -> ScorerLine:
    """A scorer whose mean fell from 0.8 to 0.7."""
    move = Move(before_n=900, before_mean=0.8, difference=-0.1, lower=-0.12, upper=-0.08)
    usual: dict[str, Any] = {
        "scorer": "context_precision:answer",
        "judge": "lexical",
        "name": "Context precision",
        "question": "Which contexts are relevant?",
        "scale": 1.0,
        "is_higher_better": True,
        "n": 1000,
        "mean": 0.7,
        "lower": 0.68,
        "upper": 0.72,
        "unscored": (Reason(words="no context", n=3),),
        "share": 1.0,
        "bins": (0, 0, 10, 0, 0, 90, 0, 400, 500, 0),
        "before_bins": (0, 0, 0, 0, 0, 0, 0, 400, 500, 0),
        "move": move,
    }
    return ScorerLine(**{**usual, **fields})


def make_cost(**fields: object) -> JudgeCost:
    """A judge whose prices are all known."""
    usual: dict[str, Any] = {
        "judge": "gpt",
        "traces": 1000,
        "judged": 50,
        "sampled_out": 940,
        "shed": 10,
        "calls": 50,
        "tokens_in": 80_000,
        "tokens_out": 4_000,
        "cost_usd": 0.25,
        "unpriced": 0,
    }
    return JudgeCost(**{**usual, **fields})


def make_fall(**fields: object) -> FallLine:
    """A page that recovered after two days."""
    usual: dict[str, Any] = {
        "number": 7,
        "app": "shop",
        "environment": "production",
        "scorer": "context_precision:answer",
        "judge": "lexical@012345",
        "words": "context_precision:answer fell by .12 (.08 to .16) since 2026-06-10 02:40:00 UTC",
        "drop": 0.12,
        "drop_lower": 0.08,
        "drop_upper": 0.16,
        "standing": "a page, recovered",
        "is_page": True,
        "is_false": False,
        "is_accepted": False,
        "since": SINCE + 9 * DAY,
        "opened_at": SINCE + 10 * DAY,
        "closed_at": SINCE + 12 * DAY,
        "open_seconds": 2 * 86_400.0,
        "reason": "",
        "link": "",
    }
    return FallLine(**{**usual, **fields})


def make_worst(**fields: object) -> WorstTrace:
    """A trace of which no context is relevant."""
    usual: dict[str, Any] = {
        "trace_id": "t-1",
        "scorer": "context_precision",
        "judge": "lexical",
        "raw": 0.0,
        "reason": "none of 5 contexts is relevant",
        "occurred_at": SINCE + DAY,
        "link": "",
    }
    return WorstTrace(**{**usual, **fields})


def make_place(**fields: object) -> PlaceReport:
    """An app with all that can be told of one."""
    score = ReleaseScore(scorer="context_precision", judge="lexical", n=10, mean=0.71, scale=1.0)
    release = ReleaseLine(name="2.4", traces=12, first_at=SINCE, last_at=UNTIL, scores=(score,))
    judge = JudgeLine(
        judge="lexical",
        scored=1000,
        not_scored=(Reason(words="empty retrieval", n=4),),
        waiting=2,
        sampled_out=0,
        shed=0,
    )
    usual: dict[str, Any] = {
        "app": "shop",
        "environment": "production",
        "traces": 1006,
        "traces_before": 903,
        "judges": (judge,),
        "scorers": (make_line(),),
        "releases": (release,),
        "more_releases": 0,
        "worst": (make_worst(),),
    }
    return PlaceReport(**{**usual, **fields})


def make_report(**fields: object) -> OwnersReport:
    """A report in which nothing is missing."""
    drift = Drift(
        judge="gpt",
        fingerprint="f" * 16,
        scorer="context_precision",
        version="1",
        n=30,
        reference=0.8,
        now=0.7,
        difference=-0.1,
        stderr=0.01,
    )
    usual: dict[str, Any] = {
        "app": None,
        "environment": None,
        "span": Span(since=SINCE, until=UNTIL),
        "before": Span(since=SINCE - 30 * DAY, until=SINCE),
        "made_at": UNTIL,
        "places": (make_place(),),
        "more_places": 0,
        "parked": (Reason(words="invalid json", n=2),),
        "brought": 0,
        "kept_days": None,
        "falls": (make_fall(),),
        "more_falls": False,
        "pages": PageBudget(pages=3, called_false=1, budget=1.0),
        "costs": (make_cost(),),
        "changes": (Change(at=SINCE, words="judge gpt was answered by the model m from then on"),),
        "drifts": (drift,),
        "agreements": (AgreementLine(app="shop", judge="gpt", against="lexical", alike=81, contexts=90),),
    }
    return OwnersReport(**{**usual, **fields})


def make_empty_report() -> OwnersReport:
    """A report of a database that holds nothing."""
    nothing = ("places", "parked", "falls", "costs", "changes", "drifts", "agreements")
    return make_report(**dict.fromkeys(nothing, ()), pages=PageBudget(pages=0, called_false=0, budget=1.0))
