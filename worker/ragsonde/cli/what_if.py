"""`ragsonde whatif`: what scores would be with fewer contexts, from verdicts that are stored."""

from datetime import datetime
from math import ceil
from typing import Annotated, Any

import typer

from ragsonde.api.what_if import Cut, WhatIf
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.connections import find_database_url
from ragsonde.cli.default_days import count_chosen_days
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.rescored_file import read_judged
from ragsonde.cli.rescoring_run import select_scorers
from ragsonde.cli.schema_check import require_current_schema
from ragsonde.cli.shift_table import describe_shifts, print_shifts
from ragsonde.cli.terminal import make_console, show, track, write_json
from ragsonde.scoring.outcomes import needed_aspects
from ragsonde.settings import Settings, read_settings
from ragsonde.storage.assessments import EvaluationFilter, read_evaluations
from ragsonde.storage.engine import build_engine
from ragsonde_schemas.assessment import Aspect, Level
from ragsonde_schemas.errors import InputError

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
            formats=["%Y-%m-%d"], help="Only traces of this day or later; else the newest seven days."
        ),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only traces of this day or earlier.")
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
    found = WhatIf(scorers=select_scorers(scorer, settings=settings), cut=cut)
    if not found.scorers:
        raise InputError(f"whatif: {', '.join(found.left_out)}: {_NOT_BY_CONTEXT}")
    if file is not None:
        if app or since or until:
            raise InputError("--file: knows no --app, --since, --until: these are of Postgres")
        _add_file(found, file=file, judge=judge, settings=settings)
    else:
        chosen = EvaluationFilter(
            app=app, judge=judge, since=since and since.date(), until=until and until.date()
        )
        _add_stored(found, chosen, url=find_database_url(settings))
    if output is OutputForm.JSON:
        write_json(describe(found))
    else:
        _print(found)


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


def describe(found: WhatIf) -> dict[str, Any]:
    """The result as one JSON value."""
    counts = ("traces", "cut_traces", "emptied", "lost_used", "lost_relevant", "lost_essential")
    sizes = ("contexts", "contexts_dropped", "characters", "characters_saved", "unscored_contexts")
    return {
        "top_k": found.cut.top_k,
        "min_score": found.cut.min_score,
        "drop": sorted(found.cut.drop),
        **{name: getattr(found, name) for name in (*counts, *sizes)},
        "not_assessed": dict(found.not_assessed),
        "tokens_saved_about": found.characters_saved // CHARACTERS_A_TOKEN,
        "scorers": describe_shifts(found.shifts),
        "not_known": list_unknowns(found),
    }


def list_unknowns(found: WhatIf) -> list[str]:
    """What stored verdicts cannot tell about this change."""
    of = f"of {found.traces} traces"
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


def _add_file(found: WhatIf, *, file: str, judge: str | None, settings: Settings) -> None:
    items, chosen = read_judged(file, judge=judge, settings=settings, scorers=found.scorers)
    for item in track(items, total=len(items), description="cutting"):
        if item.trace.missing_contexts is None:
            aspects = needed_aspects(found.scorers, item.trace) | _TOLD
            found.add(item.trace, chosen.assess(item.trace, aspects))


def _add_stored(found: WhatIf, chosen: EvaluationFilter, *, url: str) -> None:
    require_current_schema(url)
    engine = build_engine(url, application_name="ragsonde-whatif", pool_size=1)
    try:
        days = count_chosen_days(engine, chosen)
        batches = read_evaluations(engine, chosen, days=tuple(days), batch_size=_BATCH)
        total = sum(ceil(count / _BATCH) for count in days.values())
        for evaluations in track(batches, total=total, description="cutting"):
            for stored in evaluations:
                if stored.assessment is not None and stored.has_texts:
                    found.add(stored.trace, stored.assessment)
    finally:
        engine.dispose()


def _print(found: WhatIf) -> None:
    console = make_console()
    if not found.traces:
        console.print(show("no trace with contexts and verdicts is there: nothing to compute"))
        return
    console.print(
        show(
            f"{found.traces} traces with verdicts; {found.contexts_dropped} of {found.contexts} contexts "
            f"left out, from {found.cut_traces} traces\n",
            "bold",
        )
    )
    print_shifts(found.shifts, console=console)
    saved = found.characters_saved
    share = saved / found.characters if found.characters else 0.0
    console.print(
        show(
            f"left without any context: {found.emptied / found.traces:.1%}; saved: {saved} characters "
            f"({share:.1%}), about {saved // CHARACTERS_A_TOKEN} tokens"
        )
    )
    console.print(show("\nWhat this cannot tell:", "bold"))
    for line in list_unknowns(found):
        console.print(show(f"- {line}"))
