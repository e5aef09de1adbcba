"""From an alert to the notice that tells it: numbers, names, ids and links, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from ragsonde.page.links import link_fall
from ragsonde.regression.fall_wording import say_chance, say_fall
from ragsonde_schemas.alert_notice import AlertEvent, AlertNotice, NoticedAlert, NoticedStream
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.stream_labels import label_stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.storage.alert_notices import DueNotice
    from ragsonde_schemas.watched_fall import Fall

_NUMBERS = (
    *(
        "since",
        "drop",
        "drop_lower",
        "drop_upper",
        "mix_shift",
        "baseline_mean",
        "baseline_kind",
        "mean",
        "n",
    ),
    *("evidence_days", "overdispersion", "worst_strata"),
)
_CIRCUMSTANCES = ("changes", "extraction", "contexts", "check_set", "answers")
_TRACE = ("trace_id", "raw", "occurred_at")
_ENDINGS = {
    AlertEvent.RESOLVE: "has recovered",
    AlertEvent.ACCEPTED: "was accepted as intended",
    AlertEvent.FALSE: "was called a false alarm",
    AlertEvent.CLOSED: "was closed",
}


class NoticeLinks(NamedTuple):
    """Where notices link to.

    Attributes:
        page: URL of the monitor's page; None: there are no links to it.
        trace: template of a trace in a tracing tool, with {trace_id}; None: to the page.
    """

    page: str | None = None
    trace: str | None = None

    def link_alert(self, number: int) -> str | None:
        """The alert's view."""
        return None if self.page is None else f"{self.page.rstrip('/')}{link_fall(number)}"

    def link_trace(self, trace_id: str, *, app: str) -> str | None:
        """The trace, in the tracing tool where one is configured."""
        if self.trace is not None:
            return self.trace.replace("{trace_id}", quote(trace_id, safe=""))
        if self.page is None:
            return None
        return f"{self.page.rstrip('/')}/trace?{urlencode({'app': show_app(app), 'id': trace_id})}"


def build_notice(due: DueNotice, told: Fall, *, links: NoticeLinks) -> AlertNotice:
    """The notice of an alert as it stands now."""
    named = NoticedStream(**label_stream(told.stream))
    return AlertNotice.model_validate(
        {
            "notice_id": due.notice_id,
            "event": due.event,
            "noted_at": due.noted_at,
            "alert": NoticedAlert(
                number=told.number,
                kind=told.kind,  # type: ignore[arg-type]  # the table holds no other
                since=told.since,
                opened_at=told.opened_at,
                paged_at=told.paged_at,
                closed_at=told.closed_at,
                acked_at=told.acked_at,
                link=links.link_alert(told.number),
            ),
            "stream": named,
            "summary": _summarize(due.event, told, named),
            "explanation": _choose(told, links=links),
        }
    )


def _summarize(event: AlertEvent, told: Fall, named: NoticedStream) -> str:
    place = f"{named.app}, {named.environment}" if named.environment else named.app
    name = f"{named.scorer} by {named.judge} of {place}"
    fall = say_fall(name, told.explanation, since=f"{told.since:%Y-%m-%d %H:%M} UTC")
    if event in _ENDINGS:
        return f"{fall}; it {_ENDINGS[event]}"
    chance = say_chance(told.explanation.get("evidence_days"))
    return fall if chance is None else f"{fall}; by chance {chance}"


def _choose(told: Fall, *, links: NoticeLinks) -> dict[str, Any]:
    """What is known by name: what is not named here stays here."""
    found = told.explanation
    chosen = _pick(found, (*_NUMBERS, *_CIRCUMSTANCES))
    chosen["traces"] = [
        _pick(one, _TRACE) | {"link": links.link_trace(one["trace_id"], app=told.stream.app)}
        for one in found.get("traces", ())
    ]
    if "recovery" in found:
        chosen["recovery"] = _pick(found["recovery"], _NUMBERS)
    return chosen


def _pick(found: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: found[name] for name in names if name in found}
