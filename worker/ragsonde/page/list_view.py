"""A list of traces: what an address asks for, in words, and a line for each trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError
from werkzeug.exceptions import BadRequest

from ragsonde.page.links import link_list, link_trace
from ragsonde.page.wording import drop_probability, say_moment, say_name, say_place, say_score
from ragsonde_schemas.app_name import read_app, show_app
from ragsonde_schemas.stream_labels import scorer_label
from ragsonde_schemas.watched import BINS, Place
from ragsonde_schemas.watched_list import MOST_PAGES, Sign, TraceFilter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.watched_list import ListedTrace, TracePage

_FIELDS = (
    *("environment", "judge", "day", "state", "cause", "sign", "scorer", "version", "fingerprint", "epoch"),
    *("bin", "page", "until"),
)
_FLAGS = {"scored": "is_scored", "below": "is_below"}
_MEANINGS = {
    Sign.EMPTY_RETRIEVAL: "whose retrieval returned nothing",
    Sign.NO_CONTEXT: "without contexts",
    Sign.INSUFFICIENT: "whose contexts lack the answer",
    Sign.FAILED: "whose evaluation failed",
    Sign.LEFT_OUT: "that failed, were left out or still wait",
}


@dataclass(frozen=True, kw_only=True)
class TraceLine:
    """One trace; `value` is '' where it is listed for no score."""

    trace_id: str
    link: str
    facts: tuple[str, ...]
    value: str
    reason: str


def read_filter(arguments: Mapping[str, str]) -> TraceFilter:
    """What an address asks for.

    Raises:
        BadRequest: a value is none that is possible; it says which, and what is.
    """
    given: dict[str, object] = {name: arguments[name] for name in _FIELDS if arguments.get(name)}
    for name, field in _FLAGS.items():
        if arguments.get(name):
            given[field] = arguments[name]
    if "app" in arguments:
        given["app"] = read_app(arguments["app"])
        given["environment"] = arguments.get("environment")
    try:
        wanted = TraceFilter.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        place = found["loc"][0] if found["loc"] else "address"
        raise BadRequest(f"{place}: found {str(found['input'])[:80]!r}; {found['msg'].lower()}.") from None
    if wanted.until is not None and wanted.until.tzinfo is None:
        raise BadRequest(f"until: found {wanted.until.isoformat()!r}; expected a time with its zone.")
    if wanted.scorer is None and (wanted.bin, wanted.is_scored, wanted.is_below) != (None, None, False):
        raise BadRequest("bin, scored and below are of a scorer: found none, expected scorer=NAME.")
    return wanted


def describe_filter(wanted: TraceFilter) -> tuple[str, ...]:
    """What is listed, in words: `shop, production`, `judge gpt`, `raw score 0.2 to 0.3`."""
    parts = [_name_place(wanted)]
    if wanted.judge is not None:
        parts.append(f"judge {wanted.judge}")
    if wanted.scorer is not None:
        parts.append(f"scorer {scorer_label(wanted.scorer, wanted.version or '')}")
    if wanted.bin is not None:
        parts.append(f"raw score {wanted.bin / BINS:g} to {(wanted.bin + 1) / BINS:g}")
    if wanted.is_below:
        parts.append("below the threshold")
    if wanted.is_scored is not None:
        parts.append("scored" if wanted.is_scored else "not scored")
    if wanted.state is not None:
        parts.append(say_name(wanted.state.value))
    if wanted.cause is not None:
        parts.append(say_name(wanted.cause.value))
    if wanted.sign in _MEANINGS:
        parts.append(_MEANINGS[wanted.sign])
    parts.append("the last 24 hours" if wanted.day is None else f"{wanted.day} (UTC)")
    return tuple(parts)


def list_lines(page: TracePage, scorers: Mapping[str, Scorer], *, wanted: TraceFilter) -> list[TraceLine]:
    """A line for each trace; values are on the scorer's scale."""
    scorer = scorers.get(wanted.scorer or "")
    scale = scorer.scale if scorer is not None else 1.0
    return [
        TraceLine(
            trace_id=one.trace_id,
            link=link_trace(one.trace_id, app=one.app),
            facts=describe_facts(one, is_placed=wanted.app is not None),
            value="" if one.raw is None else say_score(one.raw * scale),
            reason=drop_probability(one.reason),
        )
        for one in page.traces
    ]


def describe_facts(one: ListedTrace, *, is_placed: bool) -> tuple[str, ...]:
    """When and where a trace occurred, and what its evaluation came to."""
    facts = [say_moment(one.occurred_at)]
    if not is_placed:
        facts.append(say_place(Place(app=one.app, environment=one.environment)))
    if one.release:
        facts.append(f"release {one.release}")
    if one.record_key:
        facts.append(f"record {one.record_key}")
    if one.judge is not None:
        made = [say_name(part.value) for part in (one.state, one.cause) if part is not None]
        facts.append(f"{one.judge}: {', '.join(made)}" if made else one.judge)
    return tuple(facts)


def link_pages(wanted: TraceFilter, page: TracePage) -> tuple[str, str]:
    """The pages before and after; '' where there is none."""
    before = _link(wanted, page, number=wanted.page - 1) if wanted.page > 1 else ""
    has_next = page.has_more and wanted.page < MOST_PAGES
    return before, _link(wanted, page, number=wanted.page + 1) if has_next else ""


def _link(wanted: TraceFilter, page: TracePage, *, number: int) -> str:
    chosen = wanted.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    for flag, field in _FLAGS.items():
        if field in chosen:
            chosen[flag] = "yes" if chosen.pop(field) else "no"
    if wanted.app is not None:
        chosen["app"] = show_app(wanted.app)
    return link_list(None, **{**chosen, "page": number, "until": page.until.isoformat()})


def _name_place(wanted: TraceFilter) -> str:
    if wanted.app is None:
        return "all apps"
    return say_place(Place(app=wanted.app, environment=wanted.environment or ""))
