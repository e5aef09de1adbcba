"""Which traces are annotated: the worst by a scorer, others drawn by their ids, or all of a file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragsonde.api.evaluation import Evaluation
from ragsonde.api.evaluation import choose_judge as choose_free_judge
from ragsonde.api.rules import build_rules
from ragsonde.cli.evaluation_choice import choose_scorers, read_file
from ragsonde.cli.meant_evaluations import explain_nothing, refuse_unknown
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import track, write_note
from ragsonde.plugins.formulas import load_formulas
from ragsonde.sampling import draw
from ragsonde.storage.assessments import EvaluationFilter
from ragsonde.storage.trace_choice import list_days, read_random, read_worst
from ragsonde.text_redaction import build_redaction
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.settings import Settings
    from ragsonde.storage.trace_choice import Choice
    from ragsonde_schemas.trace import Trace


def choose_from_file(file: str, *, worst: int, random: int, scorer: str, settings: Settings) -> list[Trace]:
    """The traces of a file: all in order, or those with the lowest scores of the lexical judge, and others.

    Raises:
        InputError: the file holds something else than traces, or there is no such scorer.
    """
    rules = build_rules(
        settings.extraction, limits=settings.message_limits, redaction=build_redaction(settings)
    )
    items, _ = read_file(file, rules=rules, skip_bad=False)
    traces = [item.trace for item in items]
    if not worst and not random:
        return traces
    scored: list[tuple[float, Trace]] = []
    if worst:
        refuse_unknown_scorer(scorer, settings=settings)
        evaluation = Evaluation(choose_scorers(scorer, settings=settings), choose_free_judge("lexical"))
        for result in track(evaluation.run(items), total=len(items), description="scoring"):
            outcome = result.outcomes[0] if result.outcomes else None
            if isinstance(outcome, Score):
                scored.append((outcome.raw, result.trace))
        scored.sort(key=lambda pair: pair[0])
    return mix([trace for _, trace in scored[:worst]], traces, random=random)


def choose_stored(
    *, app: str, worst: int, random: int, scorer: str, judge: str, days: int, settings: Settings
) -> list[Trace]:
    """The app's traces of the last days whose texts are still there; tells where only a part was looked at.

    Raises:
        InputError: nothing is found, and nobody knows the app, the judge or the scorer.
        SetupError: there is no database, or it has another schema.
        DatabaseLostError: Postgres is away.
    """
    dates = list_days(datetime.now(UTC).date(), days=days)
    with open_database(settings, command="annotate") as engine:
        low = read_worst(engine, app=app, days=dates, scorer=scorer, judge=judge, limit=worst)
        wanted = random + len(low.traces) if random else 0
        others = read_random(engine, app=app, days=dates, limit=wanted)
        if worst and not low.traces:
            refuse_unknown_scorer(scorer, settings=settings)
            meant = EvaluationFilter(app=app, judge=judge)
            write_note(f"--worst: {explain_nothing(engine, meant, settings=settings)}")
        if random and not others.traces:
            meant = EvaluationFilter(app=app)
            write_note(f"--random: {explain_nothing(engine, meant, settings=settings)}")
    _tell_shares(low, others)
    return mix(low.traces, others.traces, random=random)


def refuse_unknown_scorer(name: str, *, settings: Settings) -> None:
    """Nothing where the settings or the formulas have the scorer.

    Raises:
        InputError: they do not.
    """
    known = {*settings.scorers, *(formula.id for formula in load_formulas())}
    refuse_unknown("--scorer", name, known=known, what="no such scorer")


def _tell_shares(low: Choice, others: Choice) -> None:
    if low.share < 1:
        write_note(f"--worst: found among {low.share:.0%} of these days' scores; there may be worse traces")
    if others.share < 1:
        write_note(f"--random: drawn from {others.share:.0%} of these days' traces")


def mix(worst: Sequence[Trace], others: Sequence[Trace], *, random: int) -> list[Trace]:
    """The worst and the first of the others by draw, in the order of their draws.

    Who annotates does not see which are the worst, and the same call chooses the same traces again.
    """
    known = {trace.trace_id for trace in worst}
    drawn = [
        trace
        for trace in sorted(others, key=_draw)
        if trace.trace_id not in known and trace.missing_contexts is None and trace.has_query
    ]
    return sorted([*worst, *drawn[:random]], key=_draw)


def _draw(trace: Trace) -> float:
    return draw(app=trace.app, trace_id=trace.trace_id)
