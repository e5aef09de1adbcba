"""`ragsonde whatif`: what scores would be with fewer contexts, from verdicts that are stored."""

from collections.abc import Sequence
from datetime import datetime
from math import ceil
from typing import Annotated, Any

import typer
from rich.console import Console

from ragsonde.api.what_if import Cut, WhatIf
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.default_days import count_chosen_days
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.meant_evaluations import explain_nothing, read_filter
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.rescored_file import read_judged
from ragsonde.cli.rescoring_run import select_scorers
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.shift_table import count_evaluations, describe_shifts, name_stream, print_shifts
from ragsonde.cli.terminal import make_console, show, track, write_json, write_note
from ragsonde.scoring.outcomes import needed_aspects
from ragsonde.scoring.scorer import Scorer
from ragsonde.settings import Settings, read_settings
from ragsonde.storage.assessments import EvaluationFilter, read_evaluations
from ragsonde_schemas.assessment import Aspect, Assessment, Level
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.trace import Trace

EXAMPLES = (
    ("ragsonde whatif --top-k 3", "had only the first three contexts been retrieved"),
    ("ragsonde whatif --min-score 0.5 --app shop --since 2026-10-01", "had a retrieval score been demanded"),
    ("ragsonde whatif --drop low,none --judge gpt", "had a perfect filter left out what the judge calls low"),
    ("ragsonde whatif --top-k 3 --file traces.jsonl --judge recorded:verdicts.jsonl", "over files"),
)

CHARACTERS_A_TOKEN = 4
"""About, in English text; other languages have fewer."""

_BATCH = 200
_NOT_BY_CONTEXT = "judged for the answer or all contexts as a whole, cannot be computed for fewer"
_TOLD = frozenset({Aspect.RELEVANT, Aspect.LEVEL, Aspect.USED, Aspect.ESSENTIAL})
"""What is told of a cut, whichever scores are computed."""


def whatif(
    *,
    top_k: Annotated[int | None, typer.Option(min=0, help="Keep the first N contexts that pass.")] = None,
    min_score: Annotated[float | None, typer.Option(help="Keep contexts of this retrieval score.")] = None,
    drop: Annotated[str | None, typer.Option(metavar="LEVELS", help="Leave out levels: low,none.")] = None,
    app: Annotated[str | None, typer.Option(help="Only this app's traces.")] = None,
    judge: Annotated[
        str | None, typer.Option(help="Whose verdicts; with --file `recorded:VERDICTS`.")
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=reading_of("--since"),
            metavar="WHEN",
            help=f"Only traces of that day or later: {MOMENT_HELP}; else the newest seven days.",
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            parser=reading_of("--until"), metavar="WHEN", help="Only traces of that day or earlier."
        ),
    ] = None,
    scorer: Annotated[list[str] | None, typer.Option(help="Only this scorer; repeatable.")] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="TRACES", help="Traces of a file instead of Postgres.")
    ] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Say what scores would be with fewer contexts, from stored verdicts: no judge is asked.

    Contexts that do not pass --min-score and --drop are left out, then all after the first --top-k; the
    others close up. It is told what cannot be known that way.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    cut = Cut(top_k=top_k, min_score=min_score, drop=read_levels(drop))
    if cut == Cut():
        raise InputError("whatif: names no change; expected --top-k, --min-score or --drop")
    trial = _Trial(select_scorers(scorer, settings=settings), cut=cut)
    if file is not None:
        if app or since or until:
            raise InputError("--file: knows no --app, --since, --until: these are of Postgres")
        _add_file(trial, file=file, judge=judge, settings=settings)
        nothing = f"nothing matches: no trace of {file} has contexts and verdicts"
    else:
        chosen = read_filter(app=app, judge=judge, since=since, until=until)
        nothing = _add_stored(trial, chosen, settings=settings)
    if output is OutputForm.JSON:
        write_json(describe(trial))
    else:
        _print(trial)
    if not trial.streams:
        write_note(nothing)
        raise typer.Exit(ExitCode.BELOW)


class _Trial:
    """A cut tried on the verdicts of each stream by itself."""

    def __init__(self, scorers: Sequence[Scorer], *, cut: Cut) -> None:
        left_out = WhatIf(scorers=scorers, cut=cut)
        if not left_out.scorers:
            raise InputError(f"whatif: {', '.join(left_out.left_out)}: {_NOT_BY_CONTEXT}")
        self._scorers = tuple(scorers)
        self.scorers = left_out.scorers
        self.cut = cut
        self.streams: dict[str, WhatIf] = {}

    def add(self, stream: str, trace: Trace, assessment: Assessment) -> None:
        """Takes in the verdicts of one evaluation."""
        found = self.streams.get(stream) or WhatIf(scorers=self._scorers, cut=self.cut)
        if found.add(trace, assessment) is not None:
            self.streams[stream] = found


def read_levels(words: str | None) -> frozenset[Level]:
    """The levels named, separated by commas.

    Raises:
        InputError: one is no level.
    """
    known = [level.value for level in Level]
    named = [word.strip() for word in (words or "").split(",") if word.strip()]
    for word in named:
        if word not in known:
            raise InputError(f"--drop {word}: no level; expected some of {','.join(known)}")
    return frozenset(Level(word) for word in named)


def describe(trial: _Trial) -> dict[str, Any]:
    """The result as one JSON value."""
    return {
        "top_k": trial.cut.top_k,
        "min_score": trial.cut.min_score,
        "drop": sorted(trial.cut.drop),
        "judges": {label: _describe_stream(found) for label, found in sorted(trial.streams.items())},
    }


def _describe_stream(found: WhatIf) -> dict[str, Any]:
    counts = ("evaluations", "cut_evaluations", "emptied", "lost_used", "lost_relevant", "lost_essential")
    sizes = ("contexts", "contexts_dropped", "characters", "characters_saved", "unscored_contexts")
    return {
        **{name: getattr(found, name) for name in (*counts, *sizes)},
        "not_assessed": dict(found.not_assessed),
        "tokens_saved_about": found.characters_saved // CHARACTERS_A_TOKEN,
        "scorers": describe_shifts(found.shifts),
        "not_known": list_unknowns(found),
    }


def list_unknowns(found: WhatIf) -> list[str]:
    """What stored verdicts cannot tell about this change."""
    of = f"of {count_evaluations(found.evaluations)}"
    lines = [
        f"the answers: {found.lost_used} {of} lose a context that was used and would be answered otherwise",
        f"missing items stay as judged: {found.lost_relevant} {of} lose a relevant context and may lack more",
        f"essential sentences: {found.lost_essential} {of} lose one; if the rest suffices was not judged",
    ]
    lines += [
        f"{count} {of} have no verdict about `{aspect}`: they are not among those that lose something"
        for aspect, count in found.not_assessed.items()
        if count
    ]
    if found.emptied:
        lines.append(f"{found.emptied} {of} would have no context: they have no score after, no zero either")
    if found.left_out:
        lines.append(f"{', '.join(found.left_out)}: {_NOT_BY_CONTEXT}")
    if found.cut.drop:
        lines.append("levels are the judge's, after the fact: no filter in production is that good")
    if found.unscored_contexts:
        lines.append(f"{found.unscored_contexts} contexts have no retrieval score and were kept")
    return lines


def _add_file(trial: _Trial, *, file: str, judge: str | None, settings: Settings) -> None:
    items, chosen = read_judged(file, judge=judge, settings=settings, scorers=trial.scorers)
    for item in track(items, total=len(items), description="cutting"):
        if item.trace.missing_contexts is None:
            aspects = needed_aspects(trial.scorers, item.trace) | _TOLD
            assessment = chosen.assess(item.trace, aspects)
            trial.add(name_stream(chosen.name, chosen.fingerprint, assessment), item.trace, assessment)


def _add_stored(trial: _Trial, chosen: EvaluationFilter, *, settings: Settings) -> str:
    """What to say where nothing came of it."""
    with open_database(settings, command="whatif") as engine:
        days = count_chosen_days(engine, chosen)
        batches = read_evaluations(engine, chosen, days=tuple(days), batch_size=_BATCH)
        total = sum(ceil(count / _BATCH) for count in days.values())
        for evaluations in track(batches, total=total, description="cutting"):
            for stored in evaluations:
                if stored.assessment is not None and stored.has_texts:
                    stream = name_stream(stored.key.judge, stored.key.fingerprint, stored.assessment)
                    trial.add(stream, stored.trace, stored.assessment)
        return "" if trial.streams else explain_nothing(engine, chosen, settings=settings)


def _print(trial: _Trial) -> None:
    console = make_console()
    for label, found in sorted(trial.streams.items()):
        _print_stream(label, found, console=console)


def _print_stream(label: str, found: WhatIf, *, console: Console) -> None:
    console.print(
        show(
            f"judge {label}: {count_evaluations(found.evaluations)} with verdicts; "
            f"{found.contexts_dropped} of {found.contexts} contexts left out, from {found.cut_evaluations}\n",
            "bold",
        )
    )
    print_shifts(found.shifts, console=console)
    saved = found.characters_saved
    share = saved / found.characters if found.characters else 0.0
    console.print(
        show(
            f"left without any context: {found.emptied / found.evaluations:.1%}; saved: {saved} characters "
            f"({share:.1%}), about {saved // CHARACTERS_A_TOKEN} tokens"
        )
    )
    console.print(show("\nWhat this cannot tell:", "bold"))
    for line in list_unknowns(found):
        console.print(show(f"- {line}"))
    console.print()
