"""A rescoring while it runs: what it computes, stores, counts and tells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragsonde.api.moments import Shift
from ragsonde.api.rescoring import find_counting, find_raw, rescore
from ragsonde.cli.shift_table import count_evaluations, describe_shifts, name_stream, print_shifts
from ragsonde.cli.terminal import make_console, show, write_json
from ragsonde.plugins.formulas import load_formulas
from ragsonde.scoring.options import suggest
from ragsonde.scoring.shown_version import covers
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.rescored import RescoredEvaluation, store_rescored
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.score import Unscored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from rich.console import Console
    from sqlalchemy import Engine

    from ragsonde.scoring.scorer import Scorer
    from ragsonde.settings import Settings
    from ragsonde.storage.assessments import StoredEvaluation
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.score import Outcome

_AS_JUDGED = "of each trace the version by which it was judged, not what was rescored"


@dataclass(kw_only=True)
class Stream:
    """What one judge's verdicts give: by scorer, raw scores before and after."""

    shifts: dict[str, Shift]
    evaluations: int = 0


@dataclass(kw_only=True)
class Rescoring:
    """What was done so far.

    Attributes:
        active: by scorer, the version that alone is shown.
        streams: by stream, what it changes; judges are never put together.
        new_rows, changed_rows: stored; in a dry run: that would be.
        activated: the versions that are shown from now on; None for each trace's own, by which it was judged.
        is_of_file: nothing is stored.
        out: the file that the scores of a file are written to; None for nowhere.
        days: the first and the last day with evaluations that are meant; None where no days were read.
    """

    settings: Settings
    scorers: Sequence[Scorer]
    active: Mapping[str, str] = field(default_factory=dict)
    streams: dict[str, Stream] = field(default_factory=dict)
    unscored: Counter[str] = field(default_factory=Counter)
    evaluations: int = 0
    new_rows: int = 0
    changed_rows: int = 0
    activated: Mapping[str, str | None] = field(default_factory=dict)
    is_of_file: bool = False
    out: str | None = None
    days: tuple[date, date] | None = None

    def take(self, evaluations: Sequence[StoredEvaluation], *, engine: Engine, is_dry: bool) -> None:
        """Rescores a batch and stores it in one transaction.

        Raises:
            DatabaseLostError: Postgres is away; what was stored until then stays.
        """
        rescored = [(stored, rescore(stored, scorers=self._choose(stored))) for stored in evaluations]
        if is_dry:
            for stored, outcomes in rescored:
                self._preview(stored, outcomes)
        else:
            written = store_rescored(
                engine,
                [
                    RescoredEvaluation(stored.key, stored.assessment, stored.judged_at, outcomes)
                    for stored, outcomes in rescored
                ],
            )
            self.new_rows += written.new
            self.changed_rows += written.changed
        for stored, outcomes in rescored:
            stream = self.open_stream(stored.key.judge, stored.key.fingerprint, stored.assessment)
            for outcome in outcomes:
                counting = find_counting(stored, outcome.scorer, active=self.active.get(outcome.scorer))
                self.count(stream, find_raw(counting), outcome)

    def open_stream(self, judge: str, fingerprint: str, assessment: Assessment | None) -> Stream:
        """The stream of one more evaluation, which is counted."""
        label = name_stream(judge, fingerprint, assessment)
        if label not in self.streams:
            self.streams[label] = Stream(shifts={scorer.instance: Shift() for scorer in self.scorers})
        self.evaluations += 1
        self.streams[label].evaluations += 1
        return self.streams[label]

    def count(self, stream: Stream, before: float | None, outcome: Outcome) -> None:
        """Takes in one outcome of a stream, and what the raw score was before."""
        stream.shifts[outcome.scorer].add(before, find_raw(outcome))
        if isinstance(outcome, Unscored):
            self.unscored[f"{outcome.scorer} {outcome.status}({outcome.cause})"] += 1

    def _choose(self, stored: StoredEvaluation) -> tuple[Scorer, ...]:
        """The scorers that the settings give to the judge; all where it is not in them any more."""
        options = next((one for one in self.settings.judges if one.name == stored.key.judge), None)
        if options is None or options.scorers is None:
            return tuple(self.scorers)
        return tuple(scorer for scorer in self.scorers if scorer.instance in options.scorers)

    def _preview(self, stored: StoredEvaluation, outcomes: Sequence[Outcome]) -> None:
        known = {(one.outcome.scorer, one.outcome.version): one.outcome for one in stored.outcomes}
        for outcome in outcomes:
            old = known.get((outcome.scorer, outcome.version))
            if old is None:
                self.new_rows += 1
            elif find_raw(old) is not None and find_raw(old) == find_raw(outcome):
                self.changed_rows += _tell(old) != _tell(outcome)


def select_scorers(names: Sequence[str] | None, *, settings: Settings) -> tuple[Scorer, ...]:
    """The scorers of the settings, or those of them that are named.

    Raises:
        InputError: a name is none of them.
    """
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    known = [scorer.instance for scorer in scorers]
    for name in names or ():
        if name not in known:
            raise InputError(
                f"--scorer {name}: no scorer of the settings{suggest(name, valid=known)} "
                f"(configured: {', '.join(known)})"
            )
    return tuple(scorer for scorer in scorers if not names or scorer.instance in names)


def list_versions(scorers: Sequence[Scorer], *, is_active: bool) -> dict[str, str | None]:
    """The version of each scorer that shall be shown, without its basis; None for each trace's own."""
    return {
        scorer.instance: scorer.versions[0].partition(":")[0] if is_active else None for scorer in scorers
    }


def print_rescoring(run: Rescoring, *, is_dry: bool, as_json: bool) -> None:
    """Prints what was done."""
    if as_json:
        write_json(_describe(run, is_dry=is_dry))
        return
    console = make_console()
    if run.evaluations or run.days is not None or not run.activated:
        _print_counts(run, is_dry=is_dry, console=console)
    for line in _tell_shown(run):
        console.print(show(line, "dim"))


def _print_counts(run: Rescoring, *, is_dry: bool, console: Console) -> None:
    when = "" if run.days is None else f", traces of {run.days[0]} to {run.days[1]}"
    console.print(show(f"{count_evaluations(run.evaluations)} rescored{when}, no judge asked\n", "bold"))
    for label, stream in sorted(run.streams.items()):
        console.print(show(f"judge {label}: {count_evaluations(stream.evaluations)}", "bold"))
        print_shifts(stream.shifts, console=console)
    for cause, count in run.unscored.most_common():
        console.print(show(f"{count} without a score: {cause}", "yellow"))
    console.print(show(_tell_rows(run, is_dry=is_dry)))


def _tell_rows(run: Rescoring, *, is_dry: bool) -> str:
    if run.is_of_file and run.out is None:
        return f"{run.new_rows} scores, written nowhere: --out names a file for them"
    if run.is_of_file:
        return f"{run.new_rows} scores {'would be written' if is_dry else 'written'} to {run.out}"
    return (
        f"{run.new_rows} new score rows {'would be stored' if is_dry else 'stored'}, {run.changed_rows} rows "
        f"{'would get' if is_dry else 'got'} another value by scale or threshold"
    )


def _tell_shown(run: Rescoring) -> list[str]:
    lines = [
        f"{scorer}: shown from now on: {f'version {version} only' if version else _AS_JUDGED}"
        for scorer, version in run.activated.items()
    ]
    if any(run.activated.values()):
        lines.append(
            "scores of other versions are hidden: give the workers these options too, or --deactivate"
        )
    hidden = [
        scorer.instance
        for scorer in run.scorers
        if scorer.instance not in run.activated
        and (active := run.active.get(scorer.instance)) is not None
        and not any(covers(active, version) for version in scorer.versions)
    ]
    return lines + [f"{name}: another version is active and stays shown" for name in hidden]


def _describe(run: Rescoring, *, is_dry: bool) -> dict[str, Any]:
    return {
        "dry_run": is_dry,
        "days": run.days,
        "evaluations": run.evaluations,
        "new_rows": run.new_rows,
        "changed_rows": run.changed_rows,
        "unscored": dict(run.unscored.most_common()),
        "judges": {
            label: {"evaluations": stream.evaluations, "scorers": describe_shifts(stream.shifts)}
            for label, stream in sorted(run.streams.items())
        },
        "activated": dict(run.activated),
    }


def _tell(outcome: Outcome) -> tuple[object, object]:
    return getattr(outcome, "value", None), getattr(outcome, "passed", None)
