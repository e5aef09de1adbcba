"""The views of falls: a list, one of them, and those behind an alert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from werkzeug.exceptions import BadRequest

from ragsonde.page.fall_view import describe_line, view_fall
from ragsonde.page.links import link_falls
from ragsonde_schemas.app_name import read_app, show_app
from ragsonde_schemas.watched_fall import FallFilter, FallState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ragsonde.page.fall_view import FallLine
    from ragsonde.ports import Watching
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.watched import Place

OF_FALLS = "RagsondeRegression"
"""How the names of alerts about falls begin."""
_MOST_NUMBER = 2**63 - 1
_YEAR_DAYS = 365
_CHOICES = {
    FallState.ALL: "all",
    FallState.OPEN: "open",
    FallState.CLOSED: "closed",
    FallState.PAGE: "that were pages",
    FallState.FALSE: "called false",
}


def read_fall_filter(arguments: Mapping[str, str]) -> FallFilter:
    """What an address asks for.

    Raises:
        BadRequest: a value is none that is possible; it says which, and what is.
    """
    given: dict[str, object] = {
        name: arguments[name] for name in ("environment", "state") if arguments.get(name)
    }
    if arguments.get("app"):
        given["app"] = read_app(arguments["app"].strip())
    try:
        return FallFilter.model_validate(given)
    except ValidationError:
        expected = ", ".join(state.value for state in FallState)
        raise BadRequest(f"state: found {arguments['state'][:80]!r}; expected one of {expected}.") from None


def list_lines(
    watching: Watching, place: Place | None, *, scorers: Mapping[str, Scorer], now: datetime
) -> tuple[FallLine, ...]:
    """The open falls of a place, or of all, for the view of an alert about them."""
    named = {} if place is None else place.model_dump()
    wanted = FallFilter(**named, state=FallState.OPEN)
    found = watching.list_falls(wanted).falls
    return tuple(describe_line(one, scorers, now=now) for one in found)


def fill_list(
    watching: Watching, arguments: Mapping[str, str], *, scorers: Mapping[str, Scorer], now: datetime
) -> dict[str, Any]:
    """What the template of the list is given."""
    wanted = read_fall_filter(arguments)
    found = watching.list_falls(wanted)
    return {
        "lines": [describe_line(one, scorers, now=now) for one in found.falls],
        "has_more": found.has_more,
        "pages": found.pages,
        "false_pages": found.false_pages,
        "budget": "a year" if found.page_days == _YEAR_DAYS else f"{found.page_days:,.0f} days",
        "app": "" if wanted.app is None else show_app(wanted.app),
        "environment": wanted.environment or "",
        "choices": [(state.value, words, state is wanted.state) for state, words in _CHOICES.items()],
        "is_chosen": wanted != FallFilter(),
        "all_link": link_falls(),
    }


def fill_fall(
    watching: Watching, number: str, *, scorers: Mapping[str, Scorer], now: datetime
) -> dict[str, Any] | None:
    """What the template of a fall is given; None where there is none of that number."""
    if not (number.isascii() and number.isdigit()) or int(number) > _MOST_NUMBER:
        return None
    detail = watching.read_fall(int(number))
    return None if detail is None else {"fall": view_fall(detail, scorers, now=now)}
