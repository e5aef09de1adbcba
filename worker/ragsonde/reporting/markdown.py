"""A report as Markdown: what producers wrote is text in it, never markup."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from ragsonde.page.wording import say_score
from ragsonde.reporting.figures import (
    NO_TRACE,
    draw_bars,
    list_notes,
    say_agreement,
    say_cost,
    say_drift,
    say_judged,
    say_mean,
    say_move,
    say_open,
    say_pages,
    say_reasons,
    say_release,
    say_scored,
    say_span,
    say_time,
    say_whose,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragsonde.reporting.report import OwnersReport, PlaceReport

_MARKUP = re.compile(r"([\\`*_{}\[\]#|~])")
_ADDRESS = re.compile(r"(?i)(www)\.|:(?=//)")
"""What Markdown makes a link of without being asked."""


def escape_markdown(text: str) -> str:
    """A text on one line that is shown as it is, wherever in a line it stands but at its beginning."""
    plain = "".join(
        "\ufffd" if unicodedata.category(one)[0] == "C" else one for one in " ".join(text.split())
    )
    marked = _MARKUP.sub(r"\\\1", plain)
    marked = marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _ADDRESS.sub(lambda found: f"{found[1]}\\." if found[1] else "\\:", marked)


def write_markdown(report: OwnersReport) -> str:
    """The whole report."""
    return "\n".join(_list_lines(report)) + "\n"


def _list_lines(report: OwnersReport) -> Iterator[str]:
    yield "# Quality report"
    yield ""
    yield f"For {escape_markdown(say_whose(report))}, {say_span(report.span)}."
    yield f"Compared with {say_span(report.before)}. Made {say_time(report.made_at)}."
    if report.is_empty:
        yield from ("", f"**{NO_TRACE}**")
    for place in report.places:
        yield from _list_place(place)
    if report.more_places:
        yield from (
            "",
            f"{report.more_places:,} more apps with fewer traces are not listed: `--app` shows one.",
        )
    yield from _list_falls(report)
    yield from _list_costs(report)
    yield from _section("Changes of judges and scorers")
    told = [f"{say_time(one.at) or 'since the time before'}: {one.words}" for one in report.changes]
    yield from _items(told, nothing="None in this time.")
    yield from _section("How reliable the judges are")
    reliable = [*map(say_drift, report.drifts), *map(say_agreement, report.agreements)]
    yield from _items(reliable, nothing="Not known: no check set was judged on two days, no judges compared.")
    if report.parked:
        yield from _section("Messages that could not be read, of all apps")
        yield from _items([say_reasons(report.parked)], nothing="")
    yield from _section("How to read this")
    yield from _items(list_notes(report), nothing="")


def _list_place(place: PlaceReport) -> Iterator[str]:
    yield from _section(", ".join(one for one in (f"App {place.app}", place.environment) if one))
    yield f"{place.traces:,} traces seen; {place.traces_before:,} in the time before."
    yield ""
    yield from _table(
        ("judge", "scored", "not scored", "waiting"),
        (
            (one.judge, f"{one.scored:,}", say_reasons(one.not_scored) or "none", f"{one.waiting:,}")
            for one in place.judges
        ),
    )
    yield ""
    yield from _table(
        ("scorer", "judge", "mean (interval)", "move", "scored", "distribution 0 to 1", "not scored"),
        (
            (
                one.scorer,
                one.judge,
                say_mean(one),
                say_move(one),
                say_scored(one),
                draw_bars(one.bins),
                say_reasons(one.unscored) or "none",
            )
            for one in place.scorers
        ),
    )
    yield from _list_releases(place)
    if place.worst:
        yield from ("", "### Worst traces", "")
        for low in place.worst:
            name = f"trace {escape_markdown(low.trace_id)}"
            shown = f"[{name}](<{_quote(low.link)}>)" if low.link else name
            facts = f"{low.scorer} by {low.judge}: {say_score(low.raw)} of 1, {say_time(low.occurred_at)}"
            yield f"- {shown}: {escape_markdown(facts)}; {escape_markdown(low.reason)}"


def _list_releases(place: PlaceReport) -> Iterator[str]:
    if place.releases:
        yield from ("", "### Releases", "")
        yield from _table(
            ("release", "traces", "first seen", "last seen", "means (scores)"),
            (
                (
                    one.name,
                    f"{one.traces:,}",
                    say_time(one.first_at),
                    say_time(one.last_at),
                    "; ".join(map(say_release, one.scores)) or "nothing scored",
                )
                for one in place.releases
            ),
        )
    if place.more_releases:
        yield from ("", f"{place.more_releases:,} more releases were seen before these.")


def _list_falls(report: OwnersReport) -> Iterator[str]:
    yield from _section("Falls of scores that were told")
    yield say_pages(report.pages)
    yield ""
    if not report.falls:
        yield "No fall was told or open in this time."
        return
    yield from _table(
        ("told", "app", "what", "how it stands", "open for", "reason given"),
        (
            (
                say_time(one.opened_at),
                ", ".join(word for word in (one.app, one.environment) if word),
                f"{one.words}, by {one.judge}",
                one.standing,
                say_open(one.open_seconds),
                one.reason,
            )
            for one in report.falls
        ),
    )
    links = [f"[{one.number}](<{_quote(one.link)}>)" for one in report.falls if one.link]
    if links:
        yield from ("", f"On the page, in the same order: {', '.join(links)}.")
    if report.more_falls:
        yield from ("", "There are more than these.")


def _list_costs(report: OwnersReport) -> Iterator[str]:
    yield from _section("What judges cost, and what they covered")
    if not report.costs:
        yield "No judge looked at any trace in this time."
        return
    yield from _table(
        ("judge", "cost", "calls", "tokens in", "tokens out", "judged", "outside the sample", "shed"),
        (
            (
                one.judge,
                say_cost(one),
                *(f"{n:,}" for n in (one.calls, one.tokens_in, one.tokens_out)),
                say_judged(one),
                *(f"{n:,}" for n in (one.sampled_out, one.shed)),
            )
            for one in report.costs
        ),
    )


def _section(heading: str) -> tuple[str, ...]:
    return ("", f"## {escape_markdown(heading)}", "")


def _items(texts: Iterable[str], *, nothing: str) -> Iterator[str]:
    found = [f"- {escape_markdown(one)}" for one in texts]
    yield from found or ([nothing] if nothing else [])


def _table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|" + " --- |" * len(headings)
    for row in rows:
        yield f"| {' | '.join(map(escape_markdown, row))} |"


def _quote(link: str) -> str:
    return link.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C").replace("|", "%7C")
