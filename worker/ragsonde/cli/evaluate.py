"""`ragsonde evaluate`."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from ragsonde.api.evaluation import Evaluation
from ragsonde.api.rules import build_rules
from ragsonde.api.targets import load_target
from ragsonde.cli.asserted_thresholds import read_thresholds
from ragsonde.cli.checks import read_demands
from ragsonde.cli.evaluation_agreement import print_agreement, read_annotations
from ragsonde.cli.evaluation_answers import FallbackNotes
from ragsonde.cli.evaluation_choice import (
    choose_judge,
    choose_scorers,
    narrow_scorers,
    read_file,
    tell_unmatched,
)
from ragsonde.cli.evaluation_ending import AwayNotes, choose_ending
from ragsonde.cli.evaluation_printers import LastingPrinter, make_printer
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.options import ConfigOption
from ragsonde.cli.terminal import is_watched, track, write_note
from ragsonde.settings import read_settings
from ragsonde.text_redaction import build_redaction

EXAMPLES = (
    ("ragsonde evaluate traces.jsonl", "the free lexical judge, all scorers, no network"),
    ("ragsonde evaluate traces.jsonl --judge gpt", "a judge of ragsonde.yaml"),
    ("ragsonde evaluate traces.jsonl --judge recorded:verdicts.jsonl", "verdicts of people, from a file"),
    (
        "ragsonde evaluate traces.jsonl --judge gpt --against annotations.jsonl",
        "how far a judge agrees with people",
    ),
    (
        "ragsonde evaluate questions.jsonl --target my_app.rag:answer --fail-under context_precision=0.7",
        "ask the application anew, fail below a mean: a gate for CI",
    ),
    ("ragsonde evaluate traces.jsonl --output junit > report.xml", "one test case for each trace and scorer"),
    ("ragsonde evaluate promptfooconfig.yaml --fail-each", "promptfoo's tests with their thresholds"),
)


class ReportForm(StrEnum):
    """How the scores are shown."""

    TABLE = "table"
    """means, for people"""
    JSON = "json"
    """one object a trace, then the summary"""
    JUNIT = "junit"
    """XML, for CI"""


FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="JSON lines, a JSON array, one message of any known format, or promptfoo's tests in YAML; "
        "- for stdin.",
    ),
]
JudgeOption = Annotated[
    str,
    typer.Option("--judge", metavar="NAME", help="lexical, a judge of the settings, or recorded:FILE."),
]
ScorersOption = Annotated[
    str | None,
    typer.Option(
        "--scorers", metavar="A,B", help="Scorers of the settings or formulas; else all of the settings."
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="MODULE:FUNCTION|URL",
        help="Ask the application anew: it gets {query, ...} and gives {answer, contexts}.",
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option("--target-timeout", metavar="SECONDS", min=0.1, help="For one answer of a target URL."),
]
FailUnderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under", metavar="SCORER=V", help="Exit 1 when a mean is below V (0..1); repeatable."
    ),
]
FailEachOption = Annotated[
    bool,
    typer.Option(
        "--fail-each", help="Exit 1 when any trace is below its scorer's, or its own test's, `threshold`."
    ),
]
MaxUnscoredOption = Annotated[
    int | None,
    typer.Option(
        "--max-unscored",
        metavar="N",
        min=0,
        help="Exit 1 when more than N traces lack the score of any scorer.",
    ),
]
SkipBadOption = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out what is no trace instead of stopping with exit code 2.")
]
AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="ANNOTATIONS",
        help="Judge the annotated traces only; tell how far the judge agrees: accuracy, kappa, confusion.",
    ),
]
ThreadsOption = Annotated[
    int,
    typer.Option("--threads", min=1, max=256, help="Traces judged at once by a judge or target that waits."),
]
FormOption = Annotated[ReportForm, typer.Option("--output", "-o", help="For people, scripts or CI.")]


def evaluate(
    file: FileArgument,
    *,
    judge: JudgeOption = "lexical",
    scorers: ScorersOption = None,
    target: TargetOption = None,
    target_timeout: TimeoutOption = 60.0,
    fail_under: FailUnderOption = None,
    fail_each: FailEachOption = False,
    max_unscored: MaxUnscoredOption = None,
    against: AgainstOption = None,
    skip_bad: SkipBadOption = False,
    threads: ThreadsOption = 8,
    output: FormOption = ReportForm.TABLE,
    config: ConfigOption = None,
) -> None:
    """Score the traces of a file here and now: no services needed.

    The path from extraction to scoring is the worker's. Every line must be a trace, unless --skip-bad is
    given: lines that are none are all named, and nothing is judged.

    Exit codes: 0 done; 1 below what --fail-under, --fail-each or --max-unscored ask for, or nothing was
    scored though one of them is given, or because of errors; 2 bad input; 4 nothing was scored because judge
    or target cannot be asked.
    """
    settings = read_settings(config)
    chosen = choose_scorers(scorers, settings=settings)
    chosen = narrow_scorers(chosen, judge=judge, settings=settings, is_named=scorers is not None)
    asserted = read_thresholds(file, scorers=chosen, has_each=fail_each, has_target=target is not None)
    demands = read_demands(
        fail_under or [], has_each=fail_each, max_unscored=max_unscored, scorers=chosen, asserted=asserted
    )
    asked = load_target(target, timeout_seconds=target_timeout) if target else None
    evaluation = Evaluation(
        chosen, choose_judge(judge, settings=settings, scorers=chosen), asked, on_away=AwayNotes()
    )
    rules = build_rules(
        settings.extraction, limits=settings.message_limits, redaction=build_redaction(settings)
    )
    items, bad_count = read_file(file, rules=rules, skip_bad=skip_bad)
    tell_unmatched(items, judge=judge, settings=settings)
    annotations = read_annotations(against, items, form=output.value)
    items = annotations.items if annotations else items
    printer = make_printer(output.value, scorers=chosen, judge=evaluation.judge)
    if demands:
        printer = LastingPrinter(printer)
    results, fallbacks = [], FallbackNotes()
    # lines of JSON and a bar on the same terminal would write over each other
    is_bar_wanted = output is not ReportForm.JSON or not is_watched()
    running = evaluation.run(items, threads=threads)
    try:
        for judged in track(running, total=len(items), description="judging", is_wanted=is_bar_wanted):
            result = asserted.apply(judged)
            results.append(result)
            fallbacks.add(result)
            printer.add(result)
    except KeyboardInterrupt:
        # a target that hangs may hold anything, the lock of standard output too: an orderly end
        # could wait for it for ever, and nothing here needs one
        os._exit(ExitCode.INTERRUPTED)
    report = evaluation.report(results)
    checks = demands.check(report)
    printer.end(report, checks=checks, bad_count=bad_count)
    if annotations:
        print_agreement(annotations.compare(results), as_json=output is ReportForm.JSON)
    if output is not ReportForm.TABLE:
        for check in checks:
            if not check.is_met:
                write_note(str(check))
    code = choose_ending(report, checks=checks)
    if code is not ExitCode.OK:
        raise typer.Exit(code)
