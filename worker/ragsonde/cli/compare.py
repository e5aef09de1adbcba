"""`ragsonde compare`: whether a release scores worse than another."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.compared_releases import describe_look, print_look, tell_progress
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.meant_evaluations import refuse_unknown, refuse_unknown_app
from ragsonde.cli.moments import read_span
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.release_looks import Wish, look_at_releases, wait_for_verdict
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.stopping import keeping_interrupts
from ragsonde.cli.terminal import show_changing_line, write_json, write_note
from ragsonde.plugins.formulas import load_formulas
from ragsonde.regression.fall_bounds import SMALLEST_DROP
from ragsonde.regression.release_comparison import Verdict
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings
from ragsonde.storage.release_scores import ReleaseKind, Rivals, list_releases
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Engine

    from ragsonde.cli.release_looks import ReleaseLook
    from ragsonde.storage.release_scores import NamedRelease

EXAMPLES = (
    ("ragsonde compare --app shop --new release=2.4 --against 2.3", "is the new release worse, as of now"),
    (
        "ragsonde compare --app shop --new release=2.4 --against 2.3 --wait 2h --output json",
        "a gate in a rollout: exit code 0 not worse, 1 worse, 3 not known after two hours",
    ),
    ("ragsonde compare --app shop --new variant=b --against a --scorer context_relevance", "an experiment"),
)

EXIT_CODES = {
    Verdict.NOT_WORSE: ExitCode.OK,
    Verdict.WORSE: ExitCode.BELOW,
    Verdict.UNDECIDED: ExitCode.UNDECIDED,
}
_USUAL_DAYS = 14
_NAMED = 20


def compare(
    *,
    app: Annotated[str, typer.Option(help="Whose traces; `default` is the unknown app.")],
    new: Annotated[str, typer.Option(metavar="release=X|variant=X", help="The new release, or variant.")],
    against: Annotated[str, typer.Option(metavar="Y", help="The release, or variant, that is known.")],
    environment: Annotated[
        str | None, typer.Option(help="Of the traces; needed where both run in several.")
    ] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(help="Only this scorer; may be repeated. Else all where higher is better."),
    ] = None,
    judge: Annotated[list[str] | None, typer.Option(help="Only this judge; may be repeated.")] = None,
    wait: Annotated[
        str, typer.Option(metavar="SPAN", help="Ask again until it is known, or for so long: `30m`, `2h`.")
    ] = "0m",
    smallest_drop: Annotated[
        float, typer.Option("--smallest-drop", min=0.001, max=0.5, help="The smallest drop that matters.")
    ] = SMALLEST_DROP,
    days: Annotated[
        int, typer.Option(min=1, max=90, help="Traces of so many days, until now, are looked at.")
    ] = _USUAL_DAYS,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Say whether a release scores worse than another, at any time: a gate for rollouts.

    May be asked as often as you like: a wrong verdict stays as unlikely (1 %, shared by all scorers and
    judges). Releases that serve in the same hours are compared side by side; else the new one is held to what
    the old one was like before it. Only scores by the same judge and version are compared.

    Exit code 0: no scorer says that it is worse by the smallest drop that matters, 1: at least one says it is
    worse, 3: not known yet; how many more traces are needed is told. 2: a name that nobody knows.
    """
    kind, new_name, old_name = read_names_of_rivals(new, against)
    span = read_span(wait, option="--wait")
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    now = datetime.now(UTC)
    rivals = Rivals(read_app(app), kind, new_name, old_name, now - timedelta(days=days), now)
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    left_out = {one.instance for one in scorers if one.direction is not Direction.HIGHER}
    for name in left_out.intersection(scorer or ()):
        raise InputError(f"--scorer {name}: expected one where higher is better, as only then lower is worse")
    with keeping_interrupts() as pause, open_database(settings, command="compare") as engine:
        found = list_releases(engine, rivals)
        if not found:
            refuse_unknown_app(engine, rivals.app)
            raise InputError(f"--app {app}: no trace in the last {days} days")
        wish = Wish(
            environment=choose_environment(found, environment, rivals=rivals),
            smallest_drop=smallest_drop,
            scorers=scorer or (),
            judges=judge or (),
            left_out=left_out,
            tags=settings.stratum_tags,
        )
        refuse_unknown_release(found, wish.environment, "--against", old_name, kind=kind)
        if not span:
            refuse_unknown_release(found, wish.environment, "--new", new_name, kind=kind)
        look = _wait(engine, rivals, wish, span=span, output=output, pause=pause)
        if look.verdict is Verdict.UNDECIDED and span:
            found = list_releases(engine, rivals._replace(until=datetime.now(UTC)))
            refuse_unknown_release(found, wish.environment, "--new", new_name, kind=kind)
    if output is OutputForm.JSON:
        write_json(describe_look(look, smallest_drop=smallest_drop))
    else:
        print_look(look)
    raise typer.Exit(EXIT_CODES[look.verdict])


def read_names_of_rivals(new: str, against: str) -> tuple[ReleaseKind, str, str]:
    """What tells the releases apart, the new one's name and the old one's.

    Raises:
        InputError: one is not named, both are the same, or they are of different kinds.
    """
    kinds = [kind.value for kind in ReleaseKind]
    kind, _, name = new.partition("=")
    if kind not in kinds or not name:
        raise InputError(f"--new: found {new!r}, expected release=NAME or variant=NAME")
    other, has_kind, old = against.partition("=")
    if not has_kind or other not in kinds:
        old = against
    elif other != kind:
        raise InputError(f"--against {against}: expected a {kind}, as --new names one")
    if not old or old == name:
        raise InputError(f"--against {against}: expected the name of another {kind} than {name}")
    return ReleaseKind(kind), name, old


def choose_environment(found: Sequence[NamedRelease], wanted: str | None, *, rivals: Rivals) -> str:
    """The environment that is compared in: the wanted one, or the only one that is possible.

    Raises:
        InputError: it is not known, or there are several.
    """
    known = {one.environment for one in found}
    if wanted is not None:
        refuse_unknown("--environment", wanted, known=known, what="no trace of this app in it")
        return wanted
    meant = {one.environment for one in found if one.name in {rivals.new, rivals.old}} or known
    if len(meant) > 1:
        listed = ", ".join(sorted(name or '""' for name in meant))
        raise InputError(f"--environment is missing: expected one of those that both run in ({listed})")
    return meant.pop()


def refuse_unknown_release(
    found: Sequence[NamedRelease], environment: str, option: str, name: str, *, kind: ReleaseKind
) -> None:
    """Nothing where the release has traces in the environment.

    Raises:
        InputError: it has none; with the newest that have some.
    """
    known = [one.name for one in found if one.environment == environment and one.name][:_NAMED]
    refuse_unknown(option, name, known=known, what=f"no trace of this {kind.value}")


def _wait(
    engine: Engine,
    rivals: Rivals,
    wish: Wish,
    *,
    span: timedelta,
    output: OutputForm,
    pause: Callable[[float], None],
) -> ReleaseLook:
    """Looks until it is known; the window grows at its end only, so that what was seen stays seen."""
    with show_changing_line(is_wanted=bool(span) and output is OutputForm.TABLE) as change:
        return wait_for_verdict(
            lambda: look_at_releases(engine, rivals._replace(until=datetime.now(UTC)), wish),
            seconds=span.total_seconds(),
            tell=lambda look: change(tell_progress(look)),
            note=write_note if output is OutputForm.TABLE else lambda _: None,
            pause=pause,
        )
