"""Numbers and short sentences of a report, the same in every form of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.page.wording import say_part, say_score, say_share
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from ragsonde.reporting.report import (
        AgreementLine,
        JudgeCost,
        OwnersReport,
        PageBudget,
        Reason,
        ReleaseScore,
        ScorerLine,
        Span,
    )
    from ragsonde_schemas.check import Drift

TOO_FEW = "too few to tell where the mean of such traces lies"
NO_TRACE = "No live trace occurred in this time: there is nothing to report of scores."
_BARS = "▁▂▃▄▅▆▇█"
_NOTHING = "·"
"""Blanks at the beginning of a cell are lost."""
_SURE = 2.0
"""Standard errors beyond which a judge is said to have moved."""
_NOTES = (
    (
        "A trace counts in the time at which it occurred; each revision of it counts. Intervals are of 95 %, "
        "with traces taken as independent: many alike within an hour make them too narrow."
    ),
    "Costs are of whole days (UTC), of all environments, by when a trace was first looked at.",
)
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))


def say_span(span: Span) -> str:
    """`2026-10-01 00:00 to 2026-10-31 00:00 UTC`."""
    return f"{span.since:%Y-%m-%d %H:%M} to {span.until:%Y-%m-%d %H:%M} UTC"


def say_time(moment: datetime | None) -> str:
    """To the minute, UTC; '' of none."""
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def say_whose(report: OwnersReport) -> str:
    """What a report is restricted to."""
    app = "all apps" if report.app is None else f"app {report.app}"
    return app + ("" if report.environment is None else f", environment {report.environment}")


def say_mean(line: ScorerLine) -> str:
    """The mean with its interval; of none, that nothing is scored."""
    if line.mean is None:
        return "nothing scored"
    mean = say_score(line.mean * line.scale)
    if line.lower is None or line.upper is None:
        return f"{mean} ({TOO_FEW})"
    return f"{mean} ({say_score(line.lower * line.scale)} to {say_score(line.upper * line.scale)})"


def say_move(line: ScorerLine) -> str:
    """How far the mean moved, how surely, and which way."""
    move = line.move
    if move is None:
        return "nothing to compare with: no score by this judge and version in the time before"
    by = f"{move.difference * line.scale:+.2f}"
    was = f"was {say_score(move.before_mean * line.scale)} over {move.before_n:,}"
    if move.lower is None or move.upper is None:
        return f"{by}, not known how surely; {was}"
    words = "no sure change"
    if move.lower > 0 or move.upper < 0:
        up = move.difference > 0
        words = ("higher" if up else "lower") if not line.is_higher_better else ("better" if up else "worse")
    return f"{by} ({move.lower * line.scale:+.2f} to {move.upper * line.scale:+.2f}), {words}; {was}"


def judge_tone(line: ScorerLine) -> str:
    """`bad` where it surely became worse, `good` where better, else ''."""
    move = line.move
    if move is None or move.lower is None or move.upper is None or not line.is_higher_better:
        return ""
    return "good" if move.lower > 0 else "bad" if move.upper < 0 else ""


def say_reasons(reasons: Iterable[Reason]) -> str:
    """`12 empty retrieval, 3 no context`; '' of none."""
    return ", ".join(f"{one.n:,} {one.words}" for one in reasons)


def say_scored(line: ScorerLine) -> str:
    """How many are scored, in a part of them where there are very many."""
    part = say_part(line.share)
    return f"{line.n:,} scored" + (f" {part}" if part else "")


def draw_bars(bins: Sequence[int]) -> str:
    """Ten bars as text, the lowest tenth left; what is there is seen, however little."""
    most = max(bins, default=0)
    if not most:
        return ""
    return "".join(_NOTHING if not n else _BARS[min(7, n * 8 // (most + 1))] for n in bins)


def say_cost(cost: JudgeCost) -> str:
    """The known sum in US dollars; what is not known is said to be unknown, and is never 0."""
    if not cost.unpriced:
        return f"{cost.cost_usd or 0:,.4f} USD" if cost.calls else "no call, no cost"
    calls = f"{cost.unpriced:,} evaluation{'' if cost.unpriced == 1 else 's'}"
    if cost.cost_usd is None:
        return f"unknown: the price of {calls} is not known"
    return f"{cost.cost_usd:,.4f} USD, and an unknown price for {calls}"


def say_judged(cost: JudgeCost) -> str:
    """Which share of the traces it judged."""
    return f"{cost.judged:,} of {cost.traces:,} ({say_share(cost.judged, cost.traces)})"


def say_open(seconds: float) -> str:
    """`3 d 4 h`: two units at most; below a minute so."""
    words, left = [], int(seconds)
    for unit, size in _UNITS:
        if left >= size:
            words.append(f"{left // size} {unit}")
            left %= size
    return " ".join(words[:2]) or "less than a minute"


def say_pages(pages: PageBudget) -> str:
    """Pages against the yearly budget."""
    count = f"{pages.pages:,} page{'' if pages.pages == 1 else 's'}"
    return (
        f"{count} in the 365 days up to this report, {pages.called_false:,} called false by a person. Chance "
        f"alone may make {pages.budget:.3g} a year at most, over all streams together."
    )


def say_release(score: ReleaseScore) -> str:
    """`context_precision by lexical 0.71 (1,204)`."""
    return f"{score.scorer} by {score.judge} {say_score(score.mean * score.scale)} ({score.n:,})"


def say_drift(drift: Drift) -> str:
    """How far a judge has moved on the traces of the check set, and whether that is more than chance."""
    name = (
        f"{judge_label(drift.judge, drift.fingerprint)}, {scorer_label(drift.scorer, drift.version)}: "
        f"{drift.reference:.3f} at first, {drift.now:.3f} now over {drift.n:,} traces"
    )
    if drift.stderr is None:
        return f"{name}; too few to tell"
    moved = abs(drift.difference) > _SURE * drift.stderr
    verdict = "the judge moved" if moved else "no sure move"
    return f"{name} ({drift.difference:+.3f}, standard error {drift.stderr:.3f}): {verdict}"


def say_agreement(line: AgreementLine) -> str:
    """How often two judges call the same contexts relevant."""
    return (
        f"{line.app}: {line.judge} and {line.against} agree about {say_share(line.alike, line.contexts)} of "
        f"{line.contexts:,} contexts"
    )


def list_notes(report: OwnersReport) -> list[str]:
    """What somebody who reads the numbers has to know of them."""
    notes = list(_NOTES)
    if report.kept_days is not None:
        notes.append(
            f"Scores are kept for {report.kept_days} days: of what is older nothing, or less, is in here."
        )
    if report.brought:
        notes.append(f"{report.brought:,} traces that a backfill brought are counted nowhere else.")
    return notes
