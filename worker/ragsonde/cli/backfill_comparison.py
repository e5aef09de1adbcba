"""Two judges, or two versions of a scorer, over the same stored traces; and which version is shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.api.agreement import compare_assessments
from ragsonde.api.comparing import MOVED, compare_pairs
from ragsonde.cli.backfill_progress import require_backfill
from ragsonde.cli.backfill_start import choose_assignment
from ragsonde.cli.evaluation_agreement import describe_aspects, print_aspects
from ragsonde.cli.shift_table import describe_shifts, print_shifts
from ragsonde.cli.terminal import make_console, show, track, write_json
from ragsonde.storage.backfill_candidates import list_days
from ragsonde.storage.rescored import activate_versions, read_active_versions
from ragsonde.storage.score_pairs import (
    Side,
    list_fingerprints,
    list_judges,
    list_rivals,
    list_versions,
    read_pairs,
    read_verdicts,
)
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.stream_labels import judge_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date

    from sqlalchemy import Engine

    from ragsonde.api.agreement import AspectAgreement
    from ragsonde.api.comparing import ScorerComparison
    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.storage.score_pairs import Pair
    from ragsonde_schemas.backfill import Backfill

MOST_VERDICTS = 500
"""So many traces are read with their texts for the agreement of two judges."""

MOST_PAIRS_A_DAY = 200_000
"""Scores that both sides gave: far more than an interval needs, and no more than a day's memory and time."""


class Comparison(NamedTuple):
    """Two sides over the same traces.

    Attributes:
        agreement: of two judges' verdicts; empty for two versions of a scorer.
        cut_days: of so many days only a draw was compared.
    """

    old: Side
    new: Side
    scorers: Mapping[str, ScorerComparison]
    agreement: tuple[AspectAgreement, ...]
    cut_days: int = 0


def compare_backfill(engine: Engine, number: int, *, old: str | None) -> Comparison:
    """A backfill's judge beside another one, over the backfill's range.

    Raises:
        InputError: there is no such backfill, nothing to compare with, or no trace that both have scored.
        DatabaseLostError: Postgres is away.
    """
    backfill = require_backfill(engine, number)
    before, after = choose_judges(engine, backfill, old=old)
    request = backfill.request
    return compare_sides(engine, before, after, days=(request.since, request.until), app=request.app)


def compare_versions(
    engine: Engine,
    scorer: str,
    *,
    judge: Side,
    days: tuple[date, date],
    app: str | None,
    old: str | None,
    new: str | None,
) -> Comparison:
    """Two versions of a scorer by one judge's verdicts.

    Raises:
        InputError: there are not two versions, or no trace has scores by both.
        DatabaseLostError: Postgres is away.
    """
    before, after = choose_versions(engine, scorer, judge=judge, days=days, old=old, new=new)
    return compare_sides(engine, before, after, days=days, app=app, scorer=scorer)


def tell_comparison(
    engine: Engine, compared: Comparison, *, scorer: str | None, is_dry: bool, as_json: bool
) -> None:
    """Prints a comparison; where a scorer is given its new version is the one that is shown afterwards.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    version = compared.new.version
    activates = scorer is not None and version is not None
    if not as_json:
        print_comparison(compared)
    if scorer is not None and version is not None and not is_dry:
        activate_versions(engine, {scorer: version}, now=datetime.now(UTC))
    if as_json:
        activated = {scorer: version} if activates and not is_dry else {}
        write_json({"dry_run": is_dry, **describe_comparison(compared), "activated": activated})
    elif activates:
        verb = "would be shown" if is_dry else "is shown from now on"
        console = make_console()
        console.print(show(f"{scorer}: version {version} alone {verb}", "bold"))
        console.print(
            show("give the workers its options too; `ragsonde rescore --deactivate` undoes it", "dim")
        )
    elif version is not None:
        shown = f"ragsonde backfill activate --scorer {next(iter(compared.scorers))} --new {version}"
        make_console().print(show(f"`{shown}` lets the version after alone be shown", "dim"))
    else:
        console = make_console()
        console.print(show("which judge is shown follows from the settings: its newest scores", "dim"))


def choose_judges(engine: Engine, backfill: Backfill, *, old: str | None) -> tuple[Side, Side]:
    """The sides: what was judged before, and the backfill's judge.

    Args:
        engine: of this process.
        backfill: by a judge.
        old: `JUDGE`, `JUDGE@FINGERPRINT` or the first characters of one; None for the backfill's judge as it
            was configured before, else the only other one that has scored the same traces.

    Raises:
        InputError: there is none to compare with.
        DatabaseLostError: Postgres is away.
    """
    request = backfill.request
    if request.judge is None or request.fingerprint is None:
        raise InputError(f"backfill {backfill.id}: took traces of files, so there is no judge to compare")
    new = Side(request.judge, request.fingerprint)
    judge, _, beginning = (old or request.judge).partition("@")
    stored = list_fingerprints(engine, judge, since=request.since, until=request.until)
    others = [one for one in stored if (judge, one) != new[:2] and one.startswith(beginning)]
    if others:
        return Side(judge, others[0]), new
    rivals = list_rivals(engine, new, since=request.since, until=request.until, app=request.app)
    if old is None and len(rivals) == 1:
        return rivals[0][0], new
    found = "--old is missing" if old is None else f"--old {old}: found no scores by it"
    known = ", ".join(f"{_name(side)} ({count} traces)" for side, count in rivals) or "none"
    raise InputError(
        f"{found}: expected one that has scored traces of {request.since} to {request.until} that "
        f"{_name(new)} has scored; these have: {known}"
    )


def choose_judge(
    engine: Engine,
    judge: str | None,
    *,
    scorer: str,
    assignments: Mapping[str, Assignment],
    days: tuple[date, date],
) -> Side:
    """The judge that was named; without a name the only one of the settings that has scores of the scorer.

    Raises:
        InputError: there is no such judge, or which one is meant is not clear.
        DatabaseLostError: Postgres is away.
    """
    if judge is None and len(assignments) > 1:
        since, until = days
        known = sorted({*assignments} & {*list_judges(engine, scorer, since=since, until=until)})
        if len(known) != 1:
            raise InputError(
                f"--judge is missing: expected one of {', '.join(known or sorted(assignments))}; "
                f"{len(known)} of them have scores of {scorer} on traces of {since} to {until}"
            )
        judge = known[0]
    chosen = choose_assignment(judge, assignments=assignments).judge
    return Side(chosen.name, chosen.fingerprint)


def choose_versions(
    engine: Engine,
    scorer: str,
    *,
    judge: Side,
    days: tuple[date, date],
    old: str | None,
    new: str | None,
) -> tuple[Side, Side]:
    """The sides: the version that is shown now, else the one before, and the new one, else the newest.

    Raises:
        InputError: there are not two of them.
        DatabaseLostError: Postgres is away.
    """
    since, until = days
    stored = list_versions(engine, scorer, since=since, until=until, judge=judge.judge)
    known = ", ".join(stored) or "none"
    for option, name in (("--old", old), ("--new", new)):
        if name is not None and name not in stored:
            raise InputError(
                f"{option} {name}: traces of {since} to {until} have no scores of {scorer} by this version "
                f"(they have: {known})"
            )
    chosen = new or next(iter(stored), None)
    active = read_active_versions(engine).get(scorer)
    others = [one for one in stored if one != chosen]
    before = old or (active if active in others else next(iter(others), None))
    if chosen is None or before is None or before == chosen:
        raise InputError(
            f"--scorer {scorer}: two versions are needed to compare, traces of {since} to {until} have: "
            f"{known}; `ragsonde rescore` stores another beside"
        )
    return judge._replace(version=before), judge._replace(version=chosen)


def compare_sides(
    engine: Engine,
    old: Side,
    new: Side,
    *,
    days: tuple[date, date],
    app: str | None,
    scorer: str | None = None,
) -> Comparison:
    """Both sides over all traces of the days that both have scored.

    Raises:
        InputError: there is none.
        DatabaseLostError: Postgres is away.
    """
    since, until = days
    stored = [day for day in list_days(engine) if since <= day <= until]
    most, cut_days = MOST_PAIRS_A_DAY, 0
    batches = read_pairs(engine, old, new, days=stored, app=app, scorer=scorer, limit=most)

    def read_all() -> Iterator[Pair]:
        nonlocal cut_days
        for batch in track(batches, total=len(stored), description="comparing"):
            cut_days += len(batch) == most
            yield from batch

    scorers = compare_pairs(read_all())
    if not scorers:
        raise InputError(
            f"{_name(old)} and {_name(new)}: have no scored traces of {since} to {until} in common"
        )
    agreement: tuple[AspectAgreement, ...] = ()
    if (old.judge, old.fingerprint) != (new.judge, new.fingerprint):
        agreement = compare_assessments(
            read_verdicts(engine, old, new, days=stored, app=app, limit=MOST_VERDICTS)
        )
    return Comparison(old, new, scorers, agreement, cut_days)


def print_comparison(compared: Comparison) -> None:
    """Prints both sides, what moved, and how far the judges agree."""
    console = make_console()
    console.print(show(f"before: {_name(compared.old)}; after: {_name(compared.new)}", "bold"))
    if compared.cut_days:
        console.print(
            show(f"of {compared.cut_days} days {MOST_PAIRS_A_DAY} scores each were compared, of traces drawn")
        )
    print_shifts({name: one.shift for name, one in compared.scorers.items()}, console=console)
    for name, one in compared.scorers.items():
        share = one.share_moved
        if share is None:
            continue
        console.print(show(f"{name}: {share:.1%} moved by more than {MOVED:g}"))
        for pair in one.most_changed:
            console.print(show(f"  {pair.old:.3f} -> {pair.new:.3f}  {pair.trace_id}", "dim"))
    if any(one.n for one in compared.agreement):
        console.print(show(f"agreement of the verdicts, of {MOST_VERDICTS} traces at most"))
        print_aspects(compared.agreement, confusion="said before: says now")


def describe_comparison(compared: Comparison) -> dict[str, Any]:
    """The same for scripts."""
    shifts = describe_shifts({name: one.shift for name, one in compared.scorers.items()})
    return {
        "before": compared.old._asdict(),
        "after": compared.new._asdict(),
        "cut_days": compared.cut_days,
        "scorers": {
            name: {
                **shifts[name],
                "share_moved": one.share_moved,
                "most_changed": [pair._asdict() for pair in one.most_changed],
            }
            for name, one in compared.scorers.items()
        },
        "agreement": describe_aspects(compared.agreement),
    }


def _name(side: Side) -> str:
    label = judge_label(side.judge, side.fingerprint)
    return label if side.version is None else f"version {side.version} by {label}"
