"""`ragsonde backfill`: evaluate stored traces, compare what came of it, and say which version is shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from ragsonde.cli.backfill_comparison import choose_judge, compare_backfill, compare_versions, tell_comparison
from ragsonde.cli.backfill_files import publish_files
from ragsonde.cli.backfill_progress import describe_backfill, print_list
from ragsonde.cli.backfill_start import choose_assignment, choose_kind, choose_range, read_assignments
from ragsonde.cli.backfill_steering import Action, read_numbers, refuse_words, start, steer
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import write_json
from ragsonde.settings import read_settings
from ragsonde.storage.backfills import list_backfills
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.backfill import BackfillRequest
from ragsonde_schemas.errors import InputError

EXAMPLES = (
    (
        "ragsonde backfill start --judge gpt --dry-run",
        "what the last seven days would take: calls, dollars, time",
    ),
    (
        "ragsonde backfill start --judge gpt --app shop --since 2026-10-01 --usd 5",
        "do it, for 5 dollars at most",
    ),
    (
        "ragsonde backfill start --judge gpt --failed --cause judge_unavailable",
        "once more what failed in an outage",
    ),
    ("ragsonde backfill start --judge gpt --scorer faithfulness", "a scorer that was configured since"),
    ("ragsonde backfill start --judge gpt --traces 1000 --wait", "a sample of all days, with a progress bar"),
    ("ragsonde backfill files traces.jsonl --rate 10", "take the traces of a file in, with their own time"),
    ("ragsonde backfill list", "all of them, and how far they are"),
    ("ragsonde backfill cancel 3", "what has not begun is left as it was"),
    ("ragsonde backfill compare 3", "the judge of backfill 3 beside the one before, over the same traces"),
    ("ragsonde backfill compare --scorer context_relevance", "its newest version beside the one shown"),
    (
        "ragsonde backfill activate --scorer context_relevance --new 1+3fa2c1",
        "compare them, then show that one",
    ),
)

DEFAULT_RATE = 5.0

_Day = datetime | None


def backfill(
    action: Annotated[Action, typer.Argument(help="What is done.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NUMBER]...", help="Of backfills: show, pause, resume, cancel."),
    ] = None,
    *,
    judge: Annotated[str | None, typer.Option(help="start: who judges; as the settings say now.")] = None,
    app: Annotated[
        str | None, typer.Option(help="start: only this app; `default` is the unknown one.")
    ] = None,
    environment: Annotated[str | None, typer.Option(help="start: only this environment.")] = None,
    since: Annotated[
        _Day,
        typer.Option(
            parser=reading_of("--since"),
            metavar="WHEN",
            help=f"start: first day: {MOMENT_HELP}; without it the last seven days.",
        ),
    ] = None,
    until: Annotated[
        _Day,
        typer.Option(parser=reading_of("--until"), metavar="WHEN", help="start: last day; without it today."),
    ] = None,
    sample: Annotated[
        float, typer.Option(min=0.000_001, max=1, help="start: share of the traces, as sampling draws them.")
    ] = 1.0,
    rate: Annotated[float, typer.Option(min=0.001, help="start: evaluations begun a second, at most.")] = (
        DEFAULT_RATE
    ),
    traces: Annotated[
        int | None, typer.Option(min=1, help="start: at most so many traces, from all of the range.")
    ] = None,
    calls: Annotated[
        int | None, typer.Option(min=1, help="start: at most so many calls of the judge.")
    ] = None,
    usd: Annotated[float | None, typer.Option(min=0.000_001, help="start: at most so many dollars.")] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="start: only what ended as failed, judged once more.")
    ] = False,
    cause: Annotated[
        str | None, typer.Option(help="start: with --failed, only of this cause, as judge_unavailable.")
    ] = None,
    scorer: Annotated[
        str | None,
        typer.Option(
            help="start: only what the judge has judged without this scorer, for its score alone; "
            "compare, activate: two versions of this scorer."
        ),
    ] = None,
    old: Annotated[
        str | None, typer.Option(help="compare, activate: JUDGE[@FINGERPRINT] or version to compare with.")
    ] = None,
    new: Annotated[str | None, typer.Option(help="compare, activate: the version; else the newest.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="start, show, resume: until it has ended.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, do nothing.")] = False,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Evaluate stored traces by a judge as it is configured now, behind live traffic.

    start looks at every stored trace of the range whose texts are kept. What lacks an evaluation of the judge
    (a new judge, another model or prompt, left out by a lower rate or a spent budget) gets one: from a queue
    of its own, at --rate, while live queues are near empty, within --calls and --usd and half of the judge's
    budget. What was judged already costs nothing. The monitor does it, and goes on wherever anything was
    stopped; the command need not stay.

    files takes traces of files in through the same queue, with their own time, at the rates of the settings.
    Stopped and started again it goes on: what is stored already is a duplicate.

    With --failed it is only what ended as failed; with --scorer what was judged before that scorer was
    configured: it gets that score beside the others, which stay. The judge is asked only for verdicts that it
    never gave; where it gave them all, nothing is asked.

    cancel leaves what has not begun as it was.

    compare shows two judges, or with --scorer two versions of a scorer, over traces that both have scored.
    activate does so too and then lets only that version be shown. Which judge's scores are shown is not
    activated: it follows from the settings, as the newest scores of a judge of one name are shown.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    as_json = output is OutputForm.JSON
    with open_database(settings, command="backfill") as engine:
        if action is Action.START:
            refuse_words(words)
            assignment = choose_assignment(judge, assignments=read_assignments(settings))
            first, last = choose_range(
                since and since.date(), until and until.date(), today=datetime.now(UTC).date()
            )
            kind = choose_kind(failed=failed, cause=cause, scorer=scorer, assignment=assignment)
            request = BackfillRequest(
                judge=assignment.judge.name,
                fingerprint=assignment.judge.fingerprint,
                app=None if app is None else read_app(app),
                environment=environment,
                since=first,
                until=last,
                sample=sample,
                rate_per_second=rate,
                most_traces=traces,
                most_calls=calls,
                most_usd=usd,
                only_failed=kind.only_failed,
                cause=kind.cause,
                scorer=kind.scorer,
            )
            start(engine, request, assignment=assignment, is_dry=dry_run, waits=wait, as_json=as_json)
        elif action is Action.FILES:
            if not words:
                raise InputError("files: expected at least one file of traces")
            today = datetime.now(UTC).date()
            limits = BackfillRequest(
                judge=None,
                fingerprint=None,
                since=today,
                until=today,
                rate_per_second=rate,
                most_calls=calls,
                most_usd=usd,
            )
            publish_files(
                engine, words, limits, settings=settings, is_dry=dry_run, waits=wait, as_json=as_json
            )
        elif action is Action.LIST:
            refuse_words(words)
            found = list_backfills(engine)
            if as_json:
                write_json([describe_backfill(one) for one in found])
            else:
                print_list(found)
        elif action in {Action.COMPARE, Action.ACTIVATE}:
            activates = action is Action.ACTIVATE
            if activates and (scorer is None or words):
                raise InputError(
                    "activate: expected --scorer; which judge is shown follows from the settings"
                )
            days = choose_range(
                since and since.date(), until and until.date(), today=datetime.now(UTC).date()
            )
            if scorer is None:
                compared = compare_backfill(engine, read_numbers(words)[0], old=old)
            else:
                assignments = read_assignments(settings)
                compared = compare_versions(
                    engine,
                    scorer,
                    judge=choose_judge(engine, judge, scorer=scorer, assignments=assignments, days=days),
                    days=days,
                    app=None if app is None else read_app(app),
                    old=old,
                    new=new,
                )
            tell_comparison(
                engine, compared, scorer=scorer if activates else None, is_dry=dry_run, as_json=as_json
            )
        else:
            steer(engine, action, read_numbers(words), is_dry=dry_run, waits=wait, as_json=as_json)
