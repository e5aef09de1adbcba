"""The overview: the state of one application and environment, and of the others in a line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.page.charts import draw_bar
from ragsonde.page.links import link_list, link_place
from ragsonde.page.scorer_cards import Linked
from ragsonde.page.wording import say_age, say_name, say_place, say_share
from ragsonde_schemas.evaluation import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from markupsafe import Markup

    from ragsonde_schemas.watched import (
        JudgeCounts,
        LedgerSummary,
        Overview,
        Place,
        PlaceSummary,
        Spending,
    )

_S = EvaluationState


class PlaceLine(NamedTuple):
    """One place among the others."""

    name: str
    link: str
    traces: str
    age: str
    is_shown: bool


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """Where the traces of one judge went.

    Attributes:
        cells: one for each state of the table; its number leads to the traces.
    """

    judge: str
    cells: tuple[Linked, ...]


@dataclass(frozen=True, kw_only=True)
class LedgerView:
    """Where every trace went: states as columns, judges as lines."""

    revisions: int
    states: tuple[str, ...]
    lines: tuple[LedgerLine, ...]


@dataclass(frozen=True, kw_only=True)
class SpendingLine:
    """What a judge has spent of one limit."""

    judge: str
    text: str
    bar: Markup


def list_places(overview: Overview, *, shown: Place | None = None) -> tuple[PlaceLine, ...]:
    """A line for each place; ages are those of when it was read."""
    return tuple(
        PlaceLine(
            name=say_place(one.activity.place),
            link=link_place(one.activity.place),
            traces=f"{one.activity.traces:,}",
            age=say_age(one.activity.last_at, now=overview.read_at),
            is_shown=one.activity.place == shown,
        )
        for one in overview.places
    )


def choose_place(overview: Overview, arguments: Mapping[str, str], *, app: str | None) -> PlaceSummary | None:
    """The busiest place that fits what is asked for; None where none does.

    Args:
        overview: of all places.
        arguments: of the address.
        app: as it is stored; None: not asked for.
    """
    environment = arguments.get("environment")
    fitting = (
        one
        for one in overview.places
        if app in (None, one.activity.place.app) and environment in (None, one.activity.place.environment)
    )
    return next(fitting, None)


def describe_state(summary: PlaceSummary, *, now: datetime) -> str:
    """How many traces came, how fresh they are, and a clause for what each judge made of them.

    All of it is of the same traces: the live ones of the place that occurred in the last 24 hours.
    """
    activity = summary.activity
    traces = "1 trace" if activity.traces == 1 else f"{activity.traces:,} traces"
    begin = f"{traces} in the last 24 hours, the last {say_age(activity.last_at, now=now)}"
    clauses = "; ".join(_describe_judge(one) for one in summary.judges) or "No judge looked at them"
    return f"{begin}. {clauses}."


def view_ledger(ledger: LedgerSummary, *, place: Place | None) -> LedgerView:
    """The states in which any evaluation stands, and how many of each judge's do; numbers lead to traces."""
    present = {state for one in ledger.judges for state, number in one.states.items() if number}
    # those of a newer version come last, as words
    states = [*(one for one in _S if one in present), *sorted(present.difference(_S))]
    known = frozenset(_S)
    return LedgerView(
        revisions=ledger.revisions,
        states=tuple(say_name(state.value) for state in states),
        lines=tuple(
            LedgerLine(
                judge=one.judge,
                cells=tuple(
                    _link_number(
                        one.states.get(state, 0),
                        link_list(place, judge=one.judge, state=state.value) if state in known else "",
                    )
                    for state in states
                ),
            )
            for one in ledger.judges
        ),
    )


def list_spending(spending: Sequence[Spending]) -> Iterator[SpendingLine]:
    """A line for each limit of each judge."""
    for one in spending:
        for spent, limit, unit in (
            (one.spent.usd, one.limit.usd, "$"),
            (one.spent.calls, one.limit.calls, "calls"),
            (one.spent.tokens, one.limit.tokens, "tokens"),
        ):
            if limit is None:
                continue
            what = f"${spent:,.2f} of ${limit:,.2f}" if unit == "$" else f"{spent:,} of {limit:,} {unit}"
            text = f"{what} this {one.limit.period.value}"
            share = spent / limit if limit else 1.0
            yield SpendingLine(judge=one.judge, text=text, bar=draw_bar(share, said=f"{one.judge}: {text}"))


def _describe_judge(counts: JudgeCounts) -> str:
    looked_at = counts.looked_at
    clause = f"{counts.judge} looked at {looked_at:,}"
    if looked_at:
        clause += f" and scored {say_share(counts.states.get(_S.SCORED, 0), looked_at)} of them"
    left = [
        f"{number:,} {words}"
        for number, words in (
            (counts.waiting, "wait" if counts.waiting != 1 else "waits"),
            (counts.states.get(_S.SAMPLED_OUT, 0), "outside its sample"),
            (counts.states.get(_S.SHED, 0), "left out for its budget"),
        )
        if number
    ]
    return clause + (f" ({', '.join(left)})" if left else "")


def _link_number(number: int, link: str) -> Linked:
    return Linked(f"{number:,}", link if number else "")
