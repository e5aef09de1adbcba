"""How it stands with one stream, as a mark on its card, and the words that the verdict shares with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.page.links import link_fall
from ragsonde.page.wording import say_drop, say_name
from ragsonde.regression.baseline import BaselineKind
from ragsonde_schemas.stream_labels import scorer_label
from ragsonde_schemas.watched_fall import WaitsFor, WatchState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.score_stream import ScoreStream as FullStream
    from ragsonde_schemas.watched import Place, ScoreStream
    from ragsonde_schemas.watched_fall import Arming, FallWatch, StreamWatch

TONES = {
    WatchState.FELL: "bad",
    WatchState.SUSPECTED: "fair",
    WatchState.HELD: "fair",
    WatchState.STEADY: "good",
}
_WORDS = {WatchState.UNWATCHED: "not watched"}
_HOLDS = {
    "coverage": "far more of its judgements fail than in its baseline, and those that are left may not be "
    "like the others",
    "extraction": "fields of its traces are found by other rules than a day ago, and what falls may be what "
    "is read",
}
"""Why nothing is bet on what comes; a reason that is not known here is told by its name."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """How it stands with the stream of a card.

    Attributes:
        words: `fell .12`, `suspected`, `steady`, `arming, 62 %`.
        link: of its fall; '' where none is open.
        tone: `good`, `fair`, `bad` or ''.
        note: what its baseline can see, or why it sees nothing.
    """

    words: str
    link: str
    tone: str
    note: str


def list_streams(watch: FallWatch, place: Place) -> list[StreamWatch]:
    """Those of a place."""
    return [
        one
        for one in watch.streams
        if (one.stream.app, one.stream.environment) == (place.app, place.environment)
    ]


def find_mark(
    streams: Sequence[StreamWatch], stream: ScoreStream, *, scorers: Mapping[str, Scorer]
) -> Mark | None:
    """How it stands with the stream of a card; None where nothing is known of it yet."""
    key = (stream.scorer, stream.version, stream.judge, stream.fingerprint, stream.epoch)
    found = next((one for one in streams if _key(one) == key), None)
    if found is None:
        return None
    scale = find_scale(scorers, stream.scorer)
    words = say_state(found.state)
    if found.state is WatchState.FELL and found.drop is not None:
        words = f"fell {say_drop(found.drop * scale)}"
    if found.state is WatchState.ARMING and found.arming is not None:
        words = f"arming, {say_progress(found.arming)}"
        if found.arming.waits_for is WaitsFor.CHOICE:
            words = "no baseline"
    return Mark(
        words=words,
        link="" if found.fall is None else link_fall(found.fall),
        tone=TONES.get(found.state, ""),
        note=_note(found, scale=scale),
    )


def find_scale(scorers: Mapping[str, Scorer], name: str) -> float:
    """Of a scorer that is configured no more: 1."""
    scorer = scorers.get(name)
    return 1.0 if scorer is None else scorer.scale


def name_scorer(stream: FullStream, scorers: Mapping[str, Scorer]) -> str:
    """`weighted relevance`; of a scorer that is configured no more its name."""
    scorer = scorers.get(stream.scorer)
    return scorer_label(stream.scorer, stream.version) if scorer is None else scorer.formula.display_name


def say_state(state: WatchState) -> str:
    """A state in a word or two."""
    return _WORDS.get(state, state.value)


def say_progress(arming: Arming) -> str:
    """`62 %`; never all of it, as then it would be armed."""
    return f"{min(99, int(100 * arming.share))}\u00a0%"


def say_hold(hold: str | None) -> str:
    """Why a stream is not judged, as a clause; what follows a colon says more of it."""
    reason, _, more = (hold or "unknown").partition(": ")
    words = _HOLDS.get(reason, f"a guard holds it, {say_name(reason)}")
    return words + (f" ({more})" if more else "")


def _key(one: StreamWatch) -> tuple[str, str, str, str, int]:
    stream = one.stream
    return (stream.scorer, stream.version, stream.judge, stream.fingerprint, stream.judge_epoch)


def _note(one: StreamWatch, *, scale: float) -> str:
    if one.state is WatchState.HELD:
        return f"not judged now, as {say_hold(one.hold)}"
    if one.smallest_drop is None:
        return "" if one.state is WatchState.ARMING else "its scores have no room to fall"
    if one.baseline_kind == BaselineKind.FLOOR:
        return "held to a floor, as there is no baseline"
    kind = " (provisional)" if one.baseline_kind == BaselineKind.PROVISIONAL else ""
    return f"its baseline{kind} would show a fall of {say_drop(one.smallest_drop * scale)} or more"
