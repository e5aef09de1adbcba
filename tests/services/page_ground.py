"""A page that shows everything it can, with names that do not break, for a real browser."""

from __future__ import annotations

from datetime import timedelta

from fakes.histories import evaluate, tell
from fakes.judged_traces import make_trace
from fakes.watching import (
    NOON,
    SHOP,
    FakeWatching,
    make_activity,
    make_counts,
    make_fall,
    make_listed,
    make_place,
    make_points,
    make_summary,
    make_watched,
    make_window,
)
from ragsonde.exposition.http import Response
from ragsonde.page.application import PageApplication
from ragsonde.page.authentication import Authentication
from ragsonde.page.options import PageOptions
from ragsonde.page.server import PageServer
from ragsonde.page.views import Views
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.history import TraceHistory
from ragsonde_schemas.label_names import LabelNames
from ragsonde_schemas.spending import Limit, Period, Spent
from ragsonde_schemas.watched import DayMean, LowTrace, ScoreStream, Spending
from ragsonde_schemas.watched_alert import AlertEvidence, Change, ChangeKind
from ragsonde_schemas.watched_fall import Arming, Fall, FallDetail, FallList, FallWatch, ScoreSpread

LONG = "w" * 300
TOKEN = "correct-horse-battery"
PAID = ScoreStream(judge="gpt", fingerprint="f" * 16, epoch=1, scorer="context_precision", version="1:answer")
TRACE = make_trace(
    f"The torch needs one battery. It lasts for nine hours. {LONG}",
    "A battery should not burn.",
    "Opening times of our shop vary.",
    trace_id=LONG,
    app="shop",
    query="Which battery does the torch need, and for how long does it last?",
)
ALERT = "/alerts/RagsondeEmptyRetrieval"
VIEWS = {
    "overview": "/",
    "silent": "/?app=payments",
    "list": "/traces?app=shop&environment=production&judge=gpt&scorer=context_precision&bin=2",
    "trace": f"/traces/{LONG}?app=shop",
    "alert": f"{ALERT}?app=shop&environment=production",
    "alert-of-all": ALERT,
    "alert-of-queues": "/alerts/RagsondeQueueGrowing",
    "alert-of-jobs": "/alerts/RagsondeMonitorStale",
    "alerts": "/alerts",
    "runbook": "/runbooks/RagsondeParked",
    "places": "/places",
    "fall": "/falls/7",
    "fall-that-is-over": "/falls/3",
    "falls": "/falls?app=shop",
    "alert-of-falls": "/alerts/RagsondeRegression?app=shop&environment=production",
    "alert-of-other": f"{ALERT}?app=other&environment=other",
}
PATHS = (*VIEWS.values(), "/nothing", "/traces/nothing", "/login")


SERIES = {
    "queue_messages": {("ragsonde.traces",): 1299.0, ("ragsonde.work",): 12.0},
    "queue_oldest_seconds": {(): 75.0},
    "monitor_job_last_success_timestamp_seconds": {
        (name,): NOON.timestamp() - 2 for name in ("queues", "ledger", "invariants")
    },
}


def make_days(*means: float | None) -> tuple[DayMean, ...]:
    """Means of the days up to that of noon; None is a day without a score."""
    first = NOON.date() - timedelta(days=len(means) - 1)
    return tuple(
        DayMean(day=first + timedelta(days=number), n=200, mean=mean)
        for number, mean in enumerate(means)
        if mean is not None
    )


def make_scorers():
    """A scorer of the free judge, one of the paid one, and one with nothing but causes."""
    days = make_days(0.8, 0.82, 0.79, None, None, 0.8, 0.81, 0.6, 0.55, 0.6, None, 0.58, 0.62, 0.6)
    free = make_summary(days=days, below=9, n=360, share=0.25)
    paid = make_summary(
        stream=PAID,
        judge="gpt",
        scorer="context_precision:answer",
        n=12,
        mean=0.1,
        deviation=0.1,
        bins=(6, 6, 0, 0, 0, 0, 0, 0, 0, 0),
        unscored={Cause.REFUSED: 3},
        days=make_days(0.12, 0.1),
    )
    none = make_summary(
        stream=PAID.model_copy(update={"scorer": "faithfulness"}),
        judge="gpt",
        scorer="faithfulness",
        n=0,
        mean=None,
        deviation=None,
        bins=(0,) * 10,
        days=(),
        unscored={Cause.NO_CLAIMS: 40},
    )
    return free, paid, none


def make_evidence() -> AlertEvidence:
    """An empty retrieval that came with a release."""
    empty = {"states": {"scored": 140, "not_evaluable": 60}, "causes": {Cause.EMPTY_RETRIEVAL: 60}}
    two_hours = NOON - timedelta(hours=2)
    return AlertEvidence(
        place=SHOP,
        windows=(
            make_window(**empty, assessed=140, insufficient=20),
            make_window(1, hours=24, share=0.02),
            make_window(25, hours=168, share=0.06),
        ),
        examples=tuple(
            make_listed(trace_id, judge="lexical", state="not_evaluable") for trace_id in (LONG, "t-2")
        ),
        scorers=(make_summary(mean=0.2, n=25, bins=(10, 5, 5, 5, 0, 0, 0, 0, 0, 0)),),
        changes=(
            Change(kind=ChangeKind.RELEASE, name="2.5.0", since=two_hours),
            Change(kind=ChangeKind.RULE, name="contexts by " + LONG, since=two_hours),
        ),
    )


def make_falls() -> tuple[Fall, ...]:
    """One that is open, with all that can be told of it, and one that is over."""
    traces = [
        {"trace_id": trace_id, "raw": 0.05, "occurred_at": "2026-10-07T10:41:00Z"}
        for trace_id in (LONG, "t-2", "t-3")
    ]
    moved = {"field": "contexts", "rule": f"rule:{LONG}", "before": 0.98, "after": 0.4}
    told = {
        "traces": traces,
        "worst_strata": [{"stratum": f"tag:{LONG}", "drop": 0.2, "n": 120}],
        "extraction": {"moved": [moved], "n_before": 900, "n_after": 300},
        "check_set": {
            "drift": 0.0,
            "stderr": 0.01,
            "before": 0.8,
            "after": 0.8,
            "n": 40,
            "has_moved": False,
            "is_steady": True,
        },
    }
    open_one = make_fall(explanation=told, acked_at=NOON - timedelta(minutes=10))
    over = make_fall(
        3,
        kind="resolve",
        closed_at=NOON - timedelta(minutes=5),
        explanation={
            "traces": [],
            "worst_strata": [],
            "changes": [],
            "recovery": {"mean": 0.81, "drop": 0.01},
        },
    )
    return open_one, over


def make_fall_watch() -> FallWatch:
    """Streams in all states."""
    fall = {"drop": 0.12, "drop_lower": 0.08, "drop_upper": 0.16, "since": NOON - timedelta(hours=2)}
    arming = Arming(share=0.62, traces=312, needed=500, since=NOON - timedelta(days=4))
    return FallWatch(
        judged_until=NOON - timedelta(minutes=40),
        streams=(
            make_watched("context_position", state="fell", fall=7, **fall),
            make_watched("context_precision", version="1:answer", judge="gpt", state="steady"),
            make_watched(
                "faithfulness",
                version="1:answer",
                judge="gpt",
                state="arming",
                smallest_drop=None,
                arming=arming,
            ),
        ),
    )


def make_details() -> dict[int, FallDetail]:
    """The falls with hourly means of two days."""
    means = [0.82 + 0.03 * (hour % 5 - 2) for hour in range(46)] + [0.71, 0.69]
    means[10] = means[11] = None
    return {
        one.number: FallDetail(
            fall=one,
            step_seconds=3600,
            points=make_points(*means),
            threshold_days=365.0 * 12,
            before=ScoreSpread(
                since=NOON - timedelta(days=9),
                until=NOON - timedelta(days=2),
                bins=(10, 4, 6, 9, 40, 90, 300, 700, 900, 400),
            ),
            after=ScoreSpread(
                since=one.since, until=one.closed_at or NOON, bins=(30, 12, 20, 30, 40, 60, 80, 70, 40, 30)
            ),
        )
        for one in make_falls()
    }


def make_watching() -> FakeWatching:
    """Everything that the page can show, with words that do not break."""
    low = LowTrace(
        trace_id=LONG,
        app="shop",
        record_key="",
        judge="lexical",
        scorer="context_precision",
        raw=0.0,
        reason=f"none of 5 contexts is relevant {LONG}",
        occurred_at=TRACE.occurred_at,
    )
    states = {"scored": 20, "failed": 2, "sampled_out": 1_200, "waiting": 3, "shed": 4, "superseded": 2}
    judges = (make_counts(assessed=38, insufficient=5), make_counts("gpt", states=states))
    spending = Spending(
        judge="gpt", spent=Spent(calls=30, usd=1.25), limit=Limit(period=Period.DAY, calls=100, usd=5.0)
    )
    old = tell(TRACE, evaluate(TRACE)).revisions[0]
    new = tell(TRACE, evaluate(TRACE), evaluate(TRACE, judge="gpt", calls=1)).revisions[0]
    newest = new.model_copy(update={"revision": 2})
    return FakeWatching(
        places=[
            make_place(scorers=make_scorers(), judges=judges),
            make_place(make_activity("help", "staging")),
        ],
        parked={ParkReason.INVALID_JSON: 3},
        brought=9,
        lowest=(low, low.model_copy(update={"trace_id": "t-2", "reason": "1 of 5 contexts is relevant"})),
        listed=tuple(
            make_listed(trace_id, judge="gpt", raw=0.25, reason="1 of 4 contexts is relevant: 3")
            for trace_id in (LONG, "t-2", "t-3")
        ),
        has_more=True,
        spending=(spending,),
        evidence=make_evidence(),
        histories={LONG: TraceHistory(trace_id=LONG, revisions=(old, newest), parked=())},
        fall_watch=make_fall_watch(),
        falls=FallList(falls=make_falls(), pages=3, false_pages=1),
        fall_details=make_details(),
        names=LabelNames(apps=("shop",), environments=("production",)),
    )


def serve(**options) -> PageServer:
    application = PageApplication(
        authentication=Authentication(
            options=PageOptions.model_validate(options), read_token=lambda: options.get("token")
        ),
        views=Views(
            watching=make_watching(),
            scorers={scorer.instance: scorer for scorer in build_scorers(None)},
            read_series=lambda name: SERIES.get(name, {}),
            can_log_out=options.get("auth") == "token",
        ),
        machine_routes={"/metrics": lambda _accept: Response(200, "text/plain", b"")},
        read_metrics_token=lambda: None,
    )
    return PageServer(application, host="127.0.0.1", port=0)
