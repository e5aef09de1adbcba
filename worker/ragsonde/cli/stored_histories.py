"""The stored blocks of an app's streams through the detector: what a monitor would have told of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.cli.detected_streams import Detection
from ragsonde.cli.meant_evaluations import refuse_unknown
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import track, write_note
from ragsonde.plugins.formulas import load_formulas
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.replay import replay
from ragsonde.regression.threshold import ACTIVE_DAYS
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.evaluated_names import read_names
from ragsonde.storage.regression_states import count_active_streams, find_day
from ragsonde.storage.score_blocks import list_streams, read_blocks, read_progress
from ragsonde.storage.stream_names import list_named_streams
from ragsonde.storage.unshown_streams import find_unshown
from ragsonde.watching.counted_rows import count_rows
from ragsonde.watching.jobs import LAGGING
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.score_stream import begin_block
from ragsonde_schemas.stream_labels import label_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy import Engine

    from ragsonde.cli.detected_streams import DetectionWish
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.storage.score_blocks import KnownStream
    from ragsonde_schemas.score_stream import ScoreStream


class StreamChoice(NamedTuple):
    """Which histories are meant.

    Attributes:
        app: as it is stored: '' is the unknown one.
        environment, scorer, judge: only these; None: all. A scorer and a judge are named as in the settings.
        since, until: aware; `until` itself lies outside.
    """

    app: str
    environment: str | None
    scorer: str | None
    judge: str | None
    since: datetime
    until: datetime

    def holds(self, stream: ScoreStream) -> bool:
        """Whether the stream is meant."""
        wanted = (self.app, self.environment, self.scorer, self.judge)
        return all(
            want is None or want == found for want, found in zip(wanted, _list_names(stream), strict=True)
        )


def detect_in_store(
    choice: StreamChoice, wish: DetectionWish, *, config: Path | None, options: Mapping[str, object]
) -> Detection:
    """What would have been told of the streams of an app.

    Args:
        choice: which.
        wish: what they are held to.
        config: the settings file.
        options: settings of the command line.

    Raises:
        ConfigError: a setting is not possible.
        SetupError: there is no database, or its schema is older.
        InputError, DatabaseLostError: as `StoredHistories.detect`.
    """
    settings = read_settings(config, options=options)
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    targets = {one.instance for one in scorers if one.direction is Direction.TARGET}
    with open_database(settings, command="detect") as engine:
        histories = StoredHistories(engine=engine, options=settings.regression, targets=targets)
        return histories.detect(choice, wish)


@dataclass(frozen=True, kw_only=True)
class StoredHistories:
    """Replays what is stored.

    Attributes:
        engine: of this process.
        options: of the settings, for what the wish leaves open.
        targets: scorers whose scores are good near a target: they only warn.
    """

    engine: Engine
    options: RegressionOptions
    targets: Collection[str]

    def detect(self, choice: StreamChoice, wish: DetectionWish) -> Detection:
        """What would have been told of the streams; none where nothing of them is counted in that time.

        Only closed blocks are read, a stream at a time.

        Raises:
            InputError: nobody knows the app, or no stream of it has that environment, scorer or judge.
            DatabaseLostError: Postgres is away.
        """
        since, until = begin_block(choice.since), self._find_end(choice.until)
        listed = list_streams(self.engine, active_since=since, app=choice.app)
        meant = [known for known in listed if choice.holds(known.stream)]
        if not meant:
            refuse_unknown_names(self.engine, choice)
        meant = self._leave_unshown(meant, until=until)
        names = _name_apart(meant)
        find_active = self._remember_active()
        detection = Detection()
        for known in track(meant, total=len(meant), description="streams"):
            counted = count_rows(read_blocks(self.engine, [known.number], since=since, until=until))
            counts, outcomes = counted.get(known.number, (None, {}))
            if counts is None or not counts.trace_count:
                continue
            given = self.options.floors.get(known.stream.scorer) if wish.floor is None else wish.floor
            drop = self.options.smallest_drop if wish.smallest_drop is None else wish.smallest_drop
            found = replay(
                counts,
                baseline_days=wish.baseline_days,
                smallest_drop=drop,
                floor=given,
                may_page=known.stream.scorer not in self.targets,
                page_days=self.options.page_days,
                find_active=find_active,
                outcomes=outcomes,
            )
            detection.add(names[known.number], counts, found, baseline_days=wish.baseline_days)
        return detection

    def _leave_unshown(self, streams: Sequence[KnownStream], *, until: datetime) -> list[KnownStream]:
        """Those whose version is shown; the others are named on standard error."""
        with translating_losses(), self.engine.connect() as connection:
            unshown = find_unshown(connection, [one.number for one in streams], until=until)
        for one in streams:
            if one.number in unshown:
                write_note(f"{name_stream(one.stream)}: left out: another version of the scorer is shown")
        return [one for one in streams if one.number not in unshown]

    def _find_end(self, wanted: datetime) -> datetime:
        """What is not closed yet may still be counted otherwise: a monitor would not have judged it."""
        progress = read_progress(self.engine)
        closed = None if progress is None else progress.closed_until
        if closed is None:
            write_note("no score is counted yet: `ragsonde monitor` counts them")
            return wanted
        if closed < wanted - LAGGING:
            write_note(f"scores are counted until {closed:%Y-%m-%d %H:%M} UTC: later ones are left out")
        return min(wanted, closed)

    def _remember_active(self) -> Callable[[int], int]:
        @cache
        def find_active(day: int) -> int:
            with translating_losses(), self.engine.connect() as connection:
                return count_active_streams(connection, find_day(day * BLOCKS_PER_DAY), days=ACTIVE_DAYS)

        return find_active


def refuse_unknown_names(engine: Engine, choice: StreamChoice) -> None:
    """Nothing where every name is one of a stream, now or ever.

    Raises:
        InputError: one is not; with the nearest that is.
        DatabaseLostError: Postgres is away.
    """
    streams = list_named_streams(engine)
    apps = {show_app(one.app) for one in streams}
    if show_app(choice.app) not in apps:
        apps |= {show_app(app) for app in read_names(engine).apps}
        if apps:
            refuse_unknown("--app", show_app(choice.app), known=apps, what="no such app")
        return
    of_app = [one for one in streams if one.app == choice.app]
    for option, place in (("environment", 1), ("scorer", 2), ("judge", 3)):
        name = getattr(choice, option)
        if name is not None:
            known = {_list_names(one)[place] for one in of_app}
            refuse_unknown(f"--{option}", name, known=known, what="no stream of this app has it")


def name_stream(stream: ScoreStream) -> str:
    """Its scorer, judge, app and environment, as series label them."""
    return "/".join(part for part in label_stream(stream).values() if part)


def _name_apart(streams: Collection[KnownStream]) -> dict[int, str]:
    """Names by number; those that labels do not tell apart have their version and fingerprint added."""
    names = {one.number: name_stream(one.stream) for one in streams}
    times = Counter(names.values())
    return {
        one.number: name
        if times[name := names[one.number]] == 1
        else f"{name} ({one.stream.version}, {one.stream.fingerprint})"
        for one in streams
    }


def _list_names(stream: ScoreStream) -> tuple[str, ...]:
    return stream.app, stream.environment, stream.scorer, stream.judge
