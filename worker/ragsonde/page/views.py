"""The views: what was read, as HTML; each answers one path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragsonde.page.alert_view import view_alert
from ragsonde.page.alerts import ALERTS
from ragsonde.page.overview import describe_state, list_cards, list_places, list_spending, list_states
from ragsonde.page.rendering import render
from ragsonde.page.trace_view import view_trace
from ragsonde.page.wording import say_place
from ragsonde_schemas.app_name import read_app, show_app
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.watched import Place, Sign

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
        runbook_link: URL of an alert's runbook, with `{alert}` in it; None: where it is in the repository.
    """

    watching: Watching
    scorers: Mapping[str, Scorer]
    trace_link: str | None = None
    runbook_link: str | None = None

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
            app=show_app(activity.place.app),
            sentence=describe_state(summary, ledger, now=now),
            places=list_places(places, shown=activity, now=now),
            ledger=ledger,
            states=list_states(ledger),
            cards=list_cards(summary, self.scorers),
            summary=summary,
            environment=activity.place.environment,
            lacking=[one for one in summary.counts if one.assessed],
            empty=max((one.causes.get(Cause.EMPTY_RETRIEVAL, 0) for one in summary.counts), default=0),
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

    def show_alert(self, arguments: Mapping[str, str], name: str) -> str | None:
        """What an alert means, and what lies behind it: of a place where it names one, else of all."""
        alert = ALERTS.get(name)
        if alert is None:
            return None
        shown: dict[str, object] = {"name": name, "alert": alert, "runbook": self._find_runbook(name)}
        if "app" not in arguments:
            ledger = self.watching.read_ledger()
            return render(
                "alert.html", **shown, place="", view=None, ledger=ledger, states=list_states(ledger)
            )
        place = Place(app=read_app(arguments["app"]), environment=arguments.get("environment", ""))
        evidence = self.watching.read_alert(place, sign=alert.sign)
        return render(
            "alert.html",
            **shown,
            place=say_place(place),
            app=show_app(place.app),
            environment=place.environment,
            view=view_alert(evidence),
            examples=evidence.examples,
            has_sign=alert.sign is not Sign.NONE,
        )

    def _find_runbook(self, name: str) -> str | None:
        return None if self.runbook_link is None else self.runbook_link.replace("{alert}", name)


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
