"""Addresses on the page; whatever is put into one is quoted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from ragsonde_schemas.app_name import show_app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde_schemas.watched import Place, ScoreStream


_PLAIN = re.compile(r"[A-Za-z0-9_:@+-][A-Za-z0-9_.:@+-]*")
"""Ids that stay what they are in a path: browsers and proxies change slashes and dots there."""


def link_place(place: Place) -> str:
    """The overview of a place."""
    return "/?" + urlencode(_name(place))


def link_trace(trace_id: str, *, app: str | None = None, judge: str | None = None) -> str:
    """All of a trace; of one app's, with one judge's verdicts, where these are named."""
    named = {"app": None if app is None else show_app(app), "judge": judge}
    wanted = {name: value for name, value in named.items() if value is not None}
    if _PLAIN.fullmatch(trace_id):
        return f"/traces/{quote(trace_id)}" + ("?" + urlencode(wanted) if wanted else "")
    return "/trace?" + urlencode({**wanted, "id": trace_id})


def link_alert(name: str, place: Place | None = None) -> str:
    """An alert's view, of a place or of all."""
    return f"/alerts/{quote(name)}" + ("" if place is None else "?" + urlencode(_name(place)))


def link_list(place: Place | None, **wanted: object) -> str:
    """The traces of a place, or of all, that a filter lets through; what is None or False is left out."""
    chosen = {name: value for name, value in wanted.items() if value is not None and value is not False}
    flags = {name: "yes" if value is True else str(value) for name, value in chosen.items()}
    return "/traces?" + urlencode({**({} if place is None else _name(place)), **flags})


def name_stream(stream: ScoreStream) -> Mapping[str, object]:
    """What a list is asked for with to hold the scores of a stream."""
    return {
        "judge": stream.judge,
        "scorer": stream.scorer,
        "version": stream.version,
        "fingerprint": stream.fingerprint,
        "epoch": stream.epoch,
    }


def link_alerts() -> str:
    """The list of all alerts."""
    return "/alerts"


def link_fall(number: int) -> str:
    """A fall that was told."""
    return f"/falls/{number}"


def link_falls(place: Place | None = None, **wanted: str) -> str:
    """Falls that were told, of a place or of all."""
    chosen = {**({} if place is None else _name(place)), **wanted}
    return "/falls" + ("?" + urlencode(chosen) if chosen else "")


def link_runbook(name: str) -> str:
    """What to do about an alert."""
    return f"/runbooks/{quote(name)}"


def _name(place: Place) -> dict[str, str]:
    return {"app": show_app(place.app), "environment": place.environment}
