"""The views: what was read, as HTML; each answers one path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragsonde.page.overview import describe_state, list_cards, list_places, list_spending, list_states
from ragsonde.page.rendering import render
from ragsonde.page.trace_view import view_trace
from ragsonde.page.wording import say_place
from ragsonde_schemas.app_name import read_app

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.ports import Watching
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.watched import PlaceActivity


@dataclass(frozen=True, kw_only=True)
class Views:
    """What people see; each method answers one path and returns None for what there is not.

    Attributes:
        watching: reads it.
        scorers: the configured ones, by instance name.
        trace_link: URL of a trace in the users' tracing tool, with `{trace_id}` in it; None: there is none.
    """

    watching: Watching
    scorers: Mapping[str, Scorer]
    trace_link: str | None = None

    def show_overview(self, arguments: Mapping[str, str]) -> str | None:
        """The state of one application and environment: the one asked for, else the busiest."""
        places, now = self.watching.list_places(), self.watching.now()
        activity = _choose_place(places, arguments)
        if activity is None:
            ledger = self.watching.read_ledger()
            return render("empty.html", ledger=ledger, states=list_states(ledger))
        summary = self.watching.read_place(activity)
        ledger = self.watching.read_ledger(activity.place.app)
        return render(
            "overview.html",
            name=say_place(activity.place),
            app=activity.place.app,
            sentence=describe_state(summary, ledger, now=now),
            places=list_places(places, shown=activity, now=now),
            ledger=ledger,
            states=list_states(ledger),
            cards=list_cards(summary, self.scorers),
            summary=summary,
            spending=list(list_spending(self.watching.list_spending())),
        )

    def show_trace(self, arguments: Mapping[str, str], trace_id: str) -> str | None:
        """All that is known of a trace."""
        app = arguments.get("app")
        history = self.watching.read_trace(trace_id, app=None if app is None else read_app(app))
        records = view_trace(history, scorers=self.scorers, judge=arguments.get("judge"))
        if not records and not history.parked and history.spans is None:
            return None
        link = None
        if self.trace_link is not None:
            link = self.trace_link.replace("{trace_id}", quote(trace_id, safe=""))
        return render("trace.html", trace_id=trace_id, records=records, history=history, link=link)


def _choose_place(places: Sequence[PlaceActivity], arguments: Mapping[str, str]) -> PlaceActivity | None:
    """The busiest that fits what is asked for; what fits nothing is not asked for."""
    app, environment = arguments.get("app"), arguments.get("environment")
    fitting = [
        one
        for one in places
        if (app is None or one.place.app == read_app(app))
        and (environment is None or one.place.environment == environment)
    ]
    return next(iter(fitting or places), None)
