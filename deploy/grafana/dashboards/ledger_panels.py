"""Where every message and every trace went."""

from __future__ import annotations

from dashboards.expressions import RANGE, STEP, count_growth, read, total
from dashboards.panels import A_MINUTE, COUNT, FULL, Frame, Panel, draw_lines, list_rows, show_bars
from dashboards.queries import PromQuery, SqlQuery
from dashboards.statements import LEDGER
from ragsonde.exposition.series import (
    EVALUATIONS,
    LEDGER_EVALUATIONS,
    MESSAGES_RECEIVED,
    MESSAGES_SETTLED,
)


def show_ledger() -> tuple[Panel, ...]:
    """All of them."""
    return (
        show_bars(
            Frame(
                number=201,
                title="Messages in this time",
                description="What became of the messages of the time shown above: received is the sum of all "
                "ends, but for those being worked on. When one end but accepted grows, its reason is in "
                "the row below.",
                unit=COUNT,
                decimals=0,
            ),
            PromQuery(
                expression=count_growth(MESSAGES_RECEIVED, window=RANGE, by=()),
                legend="received",
                is_instant=True,
            ),
            PromQuery(
                expression=count_growth(MESSAGES_SETTLED, window=RANGE, by=("outcome",)),
                legend="{{outcome}}",
                is_instant=True,
            ),
        ),
        show_bars(
            Frame(
                number=202,
                title="Evaluations of the last 24 hours",
                description="Where each revision stands before each judge, from Postgres. Many waiting: the "
                "judge is away or slow. Many shed: its budget is spent. Failed ones have a cause in the "
                "row below.",
                unit=COUNT,
                decimals=0,
            ),
            PromQuery(
                expression=f"max by (judge, state) ({LEDGER_EVALUATIONS.full_name})",
                legend="{{judge}}: {{state}}",
                is_instant=True,
            ),
        ),
        draw_lines(
            Frame(
                number=203,
                title="Messages received",
                description="Messages a minute by the format they were read as. A gap: the producer stopped "
                "or the queue is unbound. A format called unknown: somebody sends what is not read.",
                unit=A_MINUTE,
            ),
            PromQuery(
                expression=f"60 * {total(f'rate({read(MESSAGES_RECEIVED)}[{STEP}])', 'format')}",
                legend="{{format}}",
            ),
        ),
        draw_lines(
            Frame(
                number=204,
                title="Evaluations by state",
                description="Evaluations a minute that entered a state; waiting is a postponement. Compare "
                "with messages received: where scored falls behind, what rises instead is the reason.",
                unit=A_MINUTE,
            ),
            PromQuery(
                expression=f"60 * {total(f'rate({read(EVALUATIONS)}[{STEP}])', 'state')}", legend="{{state}}"
            ),
        ),
        list_rows(
            Frame(
                number=205,
                title="Evaluations by application",
                description="Of the time shown above, from Postgres. One application with many failed or not "
                "evaluable ones: its traces changed their form; `ragsonde extract` shows what is found.",
                unit=COUNT,
                width=FULL,
                decimals=0,
            ),
            SqlQuery(statement=LEDGER),
            columns={
                "app": "Application",
                "judge": "Judge",
                "evaluations": "Evaluations",
                "scored": "Scored",
                "not_evaluable": "Not evaluable",
                "failed": "Failed",
                "waiting": "Waiting",
                "left_out": "Left out",
                "shed": "Shed",
                "superseded": "Superseded",
            },
        ),
    )
