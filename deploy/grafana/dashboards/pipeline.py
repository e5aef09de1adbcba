"""Pipeline: does every trace arrive, how late, and what became of those without a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.changes import mark_changes
from dashboards.expressions import RANGE, STEP, count_growth, measure_quantile
from dashboards.layout import Row, lay_out
from dashboards.ledger_panels import show_ledger
from dashboards.limits import read_limit
from dashboards.panels import (
    BAD,
    COUNT,
    GOOD,
    LOW_HEIGHT,
    NARROW,
    NOTICE,
    SECONDS,
    Frame,
    Panel,
    draw_lines,
    show_numbers,
)
from dashboards.process_panels import show_processes
from dashboards.queries import PromQuery
from dashboards.variables import choose_app, choose_sources
from ragsonde.exposition.series import (
    DUPLICATES,
    END_TO_END,
    EXTRACTION,
    IN_FLIGHT,
    LAST_COMMITTED,
    LATE_SPANS,
    LEDGER_VIOLATIONS,
    OPEN_TRACES,
    PARKED,
    QUEUE_MESSAGES,
    STAGE_SECONDS,
    TRACES_FILTERED,
    UNSCORED,
)

if TYPE_CHECKING:
    from grafana_foundation_sdk.builders import dashboard

_IS_WRONG = ((None, GOOD), (1, BAD))
_MANY_MESSAGES = read_limit("queue_messages")
_IS_LONG = ((None, GOOD), (_MANY_MESSAGES, NOTICE), (10 * _MANY_MESSAGES, BAD))


def build_pipeline() -> dashboard.Dashboard:
    """The dashboard that an alert about delivery leads to first."""
    return lay_out(
        uid="ragsonde-pipeline",
        title="ragsonde: Pipeline",
        description="From the queue to the committed score: what came, where it is, how late, what was set "
        "aside and why. `ragsonde why TRACE` tells the same of one trace.",
        variables=(*choose_sources(), choose_app()),
        annotations=[mark for mark in mark_changes() if mark.build().name == "Configuration changed"],
        rows=(
            Row(number=100, title="Is it well?", panels=_show_now()),
            Row(number=200, title="Where everything went", panels=show_ledger()),
            Row(number=300, title="How late", panels=_show_delay()),
            Row(number=400, title="What has no score, and why", panels=_show_unscored()),
            Row(number=500, title="Processes", panels=show_processes()),
        ),
    )


def _show_now() -> tuple[Panel, ...]:
    committed = f"time() - max({LAST_COMMITTED.full_name} > 0)"
    return (
        show_numbers(
            Frame(
                number=101,
                title="Newest commit",
                description="How long ago any worker last stored something. Long, with messages waiting: the "
                "workers are stuck, read their log. Long with an empty queue: nothing is sent.",
                unit=SECONDS,
                steps=((None, GOOD), (300, NOTICE), (1800, BAD)),
                width=NARROW,
                height=LOW_HEIGHT,
            ),
            PromQuery(expression=committed, legend="ago", is_instant=True),
        ),
        show_numbers(
            Frame(
                number=102,
                title="Waiting in queues",
                description="Messages ready in all queues. When it grows: too few workers, a slow database, "
                "or a burst; more workers help only against the first.",
                unit=COUNT,
                steps=_IS_LONG,
                width=NARROW,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            PromQuery(
                expression=f"sum(max by (queue) ({QUEUE_MESSAGES.full_name}))",
                legend="waiting",
                is_instant=True,
            ),
        ),
        show_numbers(
            Frame(
                number=103,
                title="Parked in this time",
                description="Messages that could not become traces, in the time shown above. Any at all: "
                "`ragsonde parked list` shows the reason, `parked replay` sends them again once it is gone.",
                unit=COUNT,
                steps=((None, GOOD), (0.5, NOTICE), (read_limit("parked_messages"), BAD)),
                width=NARROW,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            PromQuery(expression=count_growth(PARKED, window=RANGE, by=()), legend="parked", is_instant=True),
        ),
        show_numbers(
            Frame(
                number=104,
                title="Ledger broken",
                description="Rows of the last 25 hours that contradict each other. Anything but 0 is a "
                "defect: `ragsonde ledger` names the traces.",
                unit=COUNT,
                steps=_IS_WRONG,
                width=NARROW,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            PromQuery(
                expression=f"sum(max by (invariant) ({LEDGER_VIOLATIONS.full_name}))",
                legend="rows",
                is_instant=True,
            ),
        ),
    )


def _show_delay() -> tuple[Panel, ...]:
    quantiles = (0.5, 0.95, 0.99)
    return (
        draw_lines(
            Frame(
                number=301,
                title="From occurrence to score",
                description="How old a trace is when its scores are stored. When it rises: the queue is "
                "long, the producer sends late, or a judge is slow; the panels beside tell which.",
                unit=SECONDS,
                steps=((None, GOOD), (60, NOTICE), (read_limit("queue_wait_seconds"), BAD)),
            ),
            *(
                PromQuery(
                    expression=measure_quantile(quantile, END_TO_END, window=STEP),
                    legend=f"p{100 * quantile:.0f}",
                )
                for quantile in quantiles
            ),
        ),
        draw_lines(
            Frame(
                number=302,
                title="Slowest stages",
                description="The 95th percentile of each stage. Judging waits for a provider; storage that "
                "rises means a busy or locked database; the others are our own work.",
                unit=SECONDS,
                steps=((None, GOOD), (10, NOTICE), (60, BAD)),
            ),
            PromQuery(
                expression=measure_quantile(0.95, STAGE_SECONDS, window=STEP, by=("stage",)),
                legend="{{stage}}",
            ),
        ),
        draw_lines(
            Frame(
                number=303,
                title="Queues",
                description="Messages ready by queue. The queue of traces is what producers sent, the one of "
                "work what was postponed. A line that only rises needs more workers.",
                unit=COUNT,
                steps=_IS_LONG,
            ),
            PromQuery(expression=f"max by (queue) ({QUEUE_MESSAGES.full_name})", legend="{{queue}}"),
        ),
        draw_lines(
            Frame(
                number=304,
                title="In hand",
                description="Messages being worked on, and traces whose spans are still being gathered. In "
                "flight that stays high while nothing is stored: workers hang. Open traces that pile up: "
                "no root span comes.",
                unit=COUNT,
            ),
            PromQuery(expression=f"sum({IN_FLIGHT.full_name})", legend="in flight"),
            PromQuery(expression=f"max({OPEN_TRACES.full_name})", legend="open traces"),
        ),
    )


def _show_unscored() -> tuple[Panel, ...]:
    return (
        draw_lines(
            Frame(
                number=401,
                title="Parked by reason",
                description="Messages that could not become traces, per interval. When one reason rises: "
                "`ragsonde parked list --reason` shows its messages; mend the producer or the mapping, "
                "then replay.",
                unit=COUNT,
                steps=((None, GOOD), (1, NOTICE)),
            ),
            PromQuery(
                expression=count_growth(PARKED, window=STEP, by=("reason",)),
                legend="{{reason}}",
            ),
        ),
        draw_lines(
            Frame(
                number=402,
                title="Unscored by cause",
                description="Outcomes without a number, per interval. Skipped: there was nothing to score, "
                "ask the producer for what lacks. Error: something failed, see the Judges dashboard.",
                unit=COUNT,
            ),
            PromQuery(
                expression=count_growth(UNSCORED, window=STEP, by=("status", "cause")),
                legend="{{status}}: {{cause}}",
            ),
        ),
        draw_lines(
            Frame(
                number=403,
                title="Set aside on purpose",
                description="Duplicates, traces that are none of a RAG application, spans that came late, "
                "per interval. Many duplicates: something redelivers. Many late spans: the producer's "
                "exporter batches longer than a trace is held open.",
                unit=COUNT,
            ),
            PromQuery(expression=count_growth(DUPLICATES, window=STEP, by=("kind",)), legend="{{kind}}"),
            PromQuery(
                expression=count_growth(TRACES_FILTERED, window=STEP, by=("cause",)),
                legend="filtered: {{cause}}",
            ),
            PromQuery(
                expression=count_growth(LATE_SPANS, window=STEP, by=("effect",)),
                legend="late spans: {{effect}}",
            ),
        ),
        draw_lines(
            Frame(
                number=404,
                title="Rules that found the contexts",
                description="Which rule found contexts, question and answer, per interval. Another rule than "
                "yesterday: the producer changed what it sends, and scores before and after do not compare.",
                unit=COUNT,
            ),
            PromQuery(
                expression=count_growth(
                    EXTRACTION,
                    'app=~"$app"',
                    'field=~"contexts|query|answer"',
                    window=STEP,
                    by=("field", "rule"),
                ),
                legend="{{field}} by {{rule}}",
            ),
        ),
    )
