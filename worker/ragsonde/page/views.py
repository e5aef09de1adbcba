"""The views: what was read, as HTML; each answers one path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragsonde.page.alert_view import view_alert
from ragsonde.page.alerts import ALERTS
from ragsonde.page.fall_pages import OF_FALLS, fill_fall, fill_list
from ragsonde.page.fall_pages import list_lines as list_fall_lines
from ragsonde.page.folded_places import find_folded
from ragsonde.page.links import link_alert, link_list, link_place, link_runbook, link_trace
from ragsonde.page.list_view import describe_facts, describe_filter, link_pages, list_lines, read_filter
from ragsonde.page.overview import (
    choose_place,
    describe_state,
    list_places,
    list_spending,
    view_ledger,
)
from ragsonde.page.rendering import Missing, Partial, render
from ragsonde.page.runbooks import read_runbook, show_markdown
from ragsonde.page.scorer_cards import list_cards
from ragsonde.page.standing import describe_queues, list_blocks
from ragsonde.page.stream_marks import list_streams
from ragsonde.page.trace_view import view_trace
from ragsonde.page.verdict import describe_verdict
from ragsonde.page.wording import mark_code, say_age, say_moment, say_place
from ragsonde_schemas.app_name import read_app, show_app
from ragsonde_schemas.errors import DatabaseLostError, LockedOutError
from ragsonde_schemas.label_names import MOST_APPS, MOST_ENVIRONMENTS
from ragsonde_schemas.watched import JudgeCounts, LedgerSummary, Place, add_counts, find_busiest_judge
from ragsonde_schemas.watched_list import Sign

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.page.fall_view import FallLine
    from ragsonde.page.overview import LedgerView
    from ragsonde.page.standing import ReadSeries
    from ragsonde.ports import Watching
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.watched import LowTrace, Overview, PlaceSummary

WORST = 3
ALERT_WORST = 5
_OF_MONEY = frozenset({"RagsondeBudgetNearlySpent", "RagsondeCoverageDrop"})


@dataclass(frozen=True, kw_only=True)
class Views:
    """What people see; each method answers one path and returns None for what there is not.

    Attributes:
        watching: reads it.
        scorers: the configured ones, by instance name.
        trace_link: URL of a trace in the users' tracing tool, with `{trace_id}` in it; None: there is none.
        runbook_link: URL of an alert's runbook, with `{alert}` in it; None: this page shows it.
        read_series: the monitor's own values, by label values, of a series without its prefix.
        can_log_out: readers have sessions.
        shows_series: whoever reads this page may read `/metrics`.
    """

    watching: Watching
    scorers: Mapping[str, Scorer]
    trace_link: str | None = None
    runbook_link: str | None = None
    read_series: ReadSeries = field(default=lambda _name: {})
    can_log_out: bool = False
    shows_series: bool = True

    def show_overview(self, arguments: Mapping[str, str]) -> str | None:
        """The state of one application and environment: the one asked for, else the busiest."""
        overview, now = self.watching.read_overview(), self.watching.now()
        app = read_app(arguments["app"]) if "app" in arguments else None
        summary = choose_place(overview, arguments, app=app)
        read = f"as of {say_moment(overview.read_at)}, {say_age(overview.read_at, now=now)}"
        shared = {
            "overview": overview,
            "read": read,
            "queues": describe_queues(self.read_series),
            "as_of": overview.read_at,
        }
        if summary is None:
            asked = Place(app=app or "", environment=arguments.get("environment", ""))
            name = say_place(asked) if app is not None else asked.environment
            return self._render("quiet.html", **shared, places=list_places(overview), name=name)
        place = summary.activity.place
        places, watch = list_places(overview, shown=place), self.watching.read_fall_watch()
        return self._render(
            "overview.html",
            **shared,
            places=places,
            name=say_place(place),
            verdict=describe_verdict(watch, place, scorers=self.scorers, now=now),
            sentence=describe_state(summary, now=overview.read_at),
            traces_link=link_list(place),
            ledger=_view_ledger(summary),
            cards=list_cards(
                summary.scorers,
                self.scorers,
                place=place,
                until=overview.read_at.date(),
                streams=list_streams(watch, place),
            ),
            lacking=[
                (one, link_list(place, judge=one.judge, sign=Sign.INSUFFICIENT.value))
                for one in summary.judges
                if one.assessed
            ],
            lowest=[
                (low, link_trace(low.trace_id, app=low.app)) for low in self._list_lowest(summary)[:WORST]
            ],
            spending=list(list_spending(self.watching.list_spending())),
        )

    def show_places(self, arguments: Mapping[str, str]) -> str | None:  # noqa: ARG002 - as all views
        """All places that have traces."""
        overview = self.watching.read_overview()
        return self._render("places_list.html", places=list_places(overview), as_of=overview.read_at)

    def show_list(self, arguments: Mapping[str, str]) -> str | None:
        """Traces behind a number."""
        wanted = read_filter(arguments)
        page = self.watching.list_traces(wanted)
        before, after = link_pages(wanted, page)
        back = "/"
        if wanted.app is not None:
            back = link_place(Place(app=wanted.app, environment=wanted.environment or ""))
        return self._render(
            "list.html",
            heading=describe_filter(wanted),
            lines=list_lines(page, self.scorers, wanted=wanted),
            has_values=wanted.scorer is not None,
            page=wanted.page,
            before=before,
            after=after,
            back=back,
        )

    def show_trace(self, arguments: Mapping[str, str], trace_id: str | None = None) -> str | None:
        """All that is known of a trace; where nothing is, what that may mean."""
        trace_id = trace_id or arguments.get("id")
        if not trace_id:
            return None
        app = arguments.get("app")
        history = self.watching.read_trace(trace_id, app=None if app is None else read_app(app))
        records = view_trace(history, scorers=self.scorers, judge=arguments.get("judge"), app=app)
        if not records and not history.parked and history.spans is None:
            return Missing(
                self._render("unknown_trace.html", trace_id=trace_id, app=app, apps=self._find_apps(trace_id))
            )
        link = None
        if self.trace_link is not None:
            link = self.trace_link.replace("{trace_id}", quote(trace_id, safe=""))
        return self._render("trace.html", trace_id=trace_id, records=records, history=history, link=link)

    def show_alerts(self, arguments: Mapping[str, str]) -> str | None:  # noqa: ARG002 - as all views
        """All alerts there are, and what each means."""
        alerts = [(link_alert(name), name, one.title) for name, one in ALERTS.items()]
        return self._render("alerts.html", alerts=alerts)

    def show_falls(self, arguments: Mapping[str, str]) -> str | None:
        """Falls of scores that were told."""
        filled = fill_list(self.watching, arguments, scorers=self.scorers, now=self.watching.now())
        return self._render("falls.html", **filled)

    def show_fall(self, arguments: Mapping[str, str], number: str) -> str | None:  # noqa: ARG002 - as all views
        """Everything that is known of a fall."""
        filled = fill_fall(self.watching, number, scorers=self.scorers, now=self.watching.now())
        return None if filled is None else self._render("fall.html", **filled)

    def show_runbook(self, arguments: Mapping[str, str], name: str) -> str | None:  # noqa: ARG002 - as all views
        """What to do about an alert."""
        text = read_runbook(name) if name in ALERTS else None
        if text is None:
            return None
        shown = {"name": name, "alert": ALERTS[name], "link": link_alert(name), "text": show_markdown(text)}
        return self._render("runbook_page.html", **shown)

    def show_alert(self, arguments: Mapping[str, str], name: str) -> str | None:
        """What an alert means, and what lies behind it: of a place where it names one, else of all."""
        alert = ALERTS.get(name)
        if alert is None:
            return None
        shown: dict[str, object] = {
            "name": name,
            "alert": alert,
            "meaning": mark_code(alert.meaning),
            "runbook": self._find_runbook(name),
        }
        try:
            overview = self.watching.read_overview()
            if "app" not in arguments:
                return self._show_evidence(name, shown, overview, place=None)
            app, environment = arguments["app"].strip(), arguments.get("environment")
            folded = find_folded(overview, self.watching.read_names(), app=app, environment=environment)
            if not folded and app != "other":
                place = Place(app=read_app(app), environment=environment or "")
                return self._show_evidence(name, shown, overview, place=place)
        except LockedOutError:
            raise
        except DatabaseLostError:
            # the runbook and what the monitor itself counts are wanted just then
            now = self.watching.now()
            blocks = list_blocks(name, self.read_series, list_standings=None, now=now)
            return Partial(self._render("alert_away.html", **shown, blocks=blocks))
        links = [(say_place(one), link_alert(name, one)) for one in folded]
        bounds = {"apps": MOST_APPS, "environments": MOST_ENVIRONMENTS}
        label = ", ".join(part for part in (app, environment) if part)
        return self._render("folded.html", **shown, label=label, links=links, **bounds)

    def _show_evidence(
        self, name: str, shown: Mapping[str, object], overview: Overview, *, place: Place | None
    ) -> str:
        alert, now = ALERTS[name], self.watching.now()
        summary = next((one for one in overview.places if one.activity.place == place), None)
        evidence = self.watching.read_alert(place, sign=alert.sign)
        return self._render(
            "alert.html",
            **shown,
            place="" if place is None else say_place(place),
            link="/" if place is None else link_place(place),
            others=[(say_place(one), link_alert(name, one)) for one in _list_others(overview, place)],
            falls=self._list_falls(name, place),
            is_of_falls=name.startswith(OF_FALLS),
            view=view_alert(
                evidence, before=() if summary is None else summary.scorers, scorers=self.scorers, now=now
            ),
            examples=[
                (one, link_trace(one.trace_id, app=one.app), describe_facts(one, is_placed=place is not None))
                for one in evidence.examples
            ],
            all_examples=link_list(place, sign=alert.sign.value),
            has_sign=alert.sign is not Sign.NONE,
            blocks=list_blocks(name, self.read_series, list_standings=self.watching.list_standings, now=now),
            last="" if summary is None else say_age(summary.activity.last_at, now=now),
            spending=list(list_spending(self.watching.list_spending())) if name in _OF_MONEY else [],
            lowest=[]
            if summary is None
            else [
                (low, link_trace(low.trace_id, app=low.app))
                for low in self._list_lowest(summary)[:ALERT_WORST]
            ],
            ledger=_sum_ledger(overview) if place is None else None,
            overview=overview,
        )

    def _list_falls(self, name: str, place: Place | None) -> tuple[FallLine, ...]:
        """The open ones of the place, of an alert about falls."""
        if not name.startswith(OF_FALLS):
            return ()
        return list_fall_lines(self.watching, place, scorers=self.scorers, now=self.watching.now())

    def _list_lowest(self, summary: PlaceSummary) -> tuple[LowTrace, ...]:
        judge = find_busiest_judge(summary.scorers)
        return self.watching.list_lowest(summary.activity.place, judge=judge) if judge else ()

    def _find_runbook(self, name: str) -> str | None:
        if self.runbook_link is not None:
            return self.runbook_link.replace("{alert}", name)
        return link_runbook(name) if read_runbook(name) is not None else None

    def _find_apps(self, trace_id: str) -> list[tuple[str, str]]:
        """The apps that have a trace of that id, with their links."""
        revisions = self.watching.read_trace(trace_id).revisions
        return [
            (show_app(app), link_trace(trace_id, app=app))
            for app in sorted({one.key.app for one in revisions})
        ]

    def _render(self, template: str, **values: object) -> str:
        frame = {"can_log_out": self.can_log_out, "shows_series": self.shows_series}
        return render(template, **{"as_of": self.watching.now(), **frame, **values})


def _list_others(overview: Overview, place: Place | None) -> list[Place]:
    """All places, for an alert that is about none."""
    return [one.activity.place for one in overview.places] if place is None else []


def _view_ledger(summary: PlaceSummary) -> LedgerView:
    ledger = LedgerSummary(revisions=summary.activity.traces, judges=summary.judges)
    return view_ledger(ledger, place=summary.activity.place)


def _sum_ledger(overview: Overview) -> LedgerView:
    parts: dict[str, list[JudgeCounts]] = {}
    for place in overview.places:
        for one in place.judges:
            parts.setdefault(one.judge, []).append(one)
    judges = tuple(add_counts(judge, parts[judge]) for judge in sorted(parts))
    revisions = sum(one.activity.traces for one in overview.places)
    return view_ledger(LedgerSummary(revisions=revisions, judges=judges), place=None)
