"""What judges cost, what changed about them, and how far they can be relied on."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from ragsonde.pipeline.checking import measure_drift
from ragsonde.reporting.report import AgreementLine, Change, JudgeCost
from ragsonde.storage.check_traces import list_check_ids, read_check_scores
from ragsonde.storage.costs import sum_costs
from ragsonde.storage.judge_agreement import Agreement, JudgeName, count_agreement
from ragsonde.storage.span_changes import read_new_models, read_new_versions
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.stream_labels import judge_label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from sqlalchemy import Engine

    from ragsonde.reporting.report import Span
    from ragsonde.storage.costs import DayCost
    from ragsonde_schemas.check import Drift
    from ragsonde_schemas.watched import ScoreStream

_INSTANT = timedelta(microseconds=1)
_SUMMED = ("traces", "judged", "sampled_out", "shed", "calls", "tokens_in", "tokens_out", "unpriced")


def list_days(span: Span) -> list[date]:
    """The days (UTC) of a span; an end at midnight touches no day more."""
    first, last = span.since.date(), max(span.since, span.until - _INSTANT).date()
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def add_costs(days: Iterable[DayCost]) -> tuple[JudgeCost, ...]:
    """Costs of several days, one line a judge, by name."""
    lines: dict[str, list[DayCost]] = {}
    for one in days:
        lines.setdefault(one.judge, []).append(one)
    return tuple(_add(judge, lines[judge]) for judge in sorted(lines))


def read_costs(engine: Engine, span: Span, *, app: str | None) -> Iterator[tuple[DayCost, ...]]:
    """What judges cost, a day after the other.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    for day in list_days(span):
        yield sum_costs(engine, day=day, app=app)


def list_changes(
    engine: Engine, span: Span, *, now: Collection[ScoreStream], before: Collection[ScoreStream]
) -> tuple[Change, ...]:
    """What changed about judges and scorers in the span, the oldest first.

    Args:
        engine: of this process.
        span: in which.
        now: streams with scores in it.
        before: streams with scores in the span before: without any, nothing is called new.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    known = {(one.judge, one.fingerprint) for one in before}
    judges = {judge for judge, _ in known}
    fresh = {(one.judge, one.fingerprint) for one in now if one.judge in judges} - known
    changed = [
        Change(at=None, words=f"judge {judge_label(*one)} is configured otherwise than in the span before")
        for one in sorted(fresh)
    ]
    models = [
        Change(at=one.at, words=f"judge {one.judge} was answered by the model {one.model} from then on")
        for one in read_new_models(engine, since=span.since, until=span.until)
    ]
    versions = [
        Change(at=one.at, words=f"scorer {one.scorer} counts in version {one.version} from then on")
        for one in read_new_versions(engine, since=span.since, until=span.until)
    ]
    return (*changed, *sorted(models + versions, key=lambda one: (one.at or span.since, one.words)))


def list_drifts(engine: Engine, *, app: str | None) -> tuple[Drift, ...]:
    """How far judges have moved on the check set, as it stands now; () where nothing is known.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    ids = list_check_ids(engine, app=app)
    if not ids:
        return ()
    return measure_drift(one for one in read_check_scores(engine, since=date.min) if one.check_id in ids)


def list_agreements(
    engine: Engine, span: Span, *, streams: Collection[ScoreStream], free: str | None, app: str | None
) -> tuple[AgreementLine, ...]:
    """How far each other judge agrees with the free one about the same contexts, by app.

    Args:
        engine: of this process.
        span: in which they were given; of the newest assessments at most 2,000 a judge are compared.
        streams: with scores in the span.
        free: the name of the lexical judge; None: there is none.
        app: only this one.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    pairs = sorted({(one.judge, one.fingerprint) for one in streams})
    found: list[AgreementLine] = []
    for judge in (one for one in pairs if one[0] != free):
        for against in (one for one in pairs if one[0] == free):
            counts = count_agreement(
                engine,
                JudgeName(*judge),
                against=JudgeName(*against),
                since=span.since,
                until=span.until,
            )
            found += [
                AgreementLine(
                    app=show_app(name),
                    judge=judge_label(*judge),
                    against=judge_label(*against),
                    **one._asdict(),
                )
                for name, one in sorted(_add_agreements(counts).items())
                if app in {None, name}
            ]
    return tuple(found)


def _add(judge: str, days: list[DayCost]) -> JudgeCost:
    sums = {name: sum(getattr(one, name) for one in days) for name in _SUMMED}
    usd = sum(one.cost_usd for one in days)
    return JudgeCost(judge=judge, **sums, cost_usd=None if sums["unpriced"] and not usd else usd)


def _add_agreements(counts: Mapping[tuple[str, bool], Agreement]) -> dict[str, Agreement]:
    """By app alone: traces with a suspected injection are among them."""
    apps: dict[str, Agreement] = {}
    for (app, _), one in counts.items():
        so_far = apps.get(app, Agreement(0, 0))
        apps[app] = Agreement(so_far.alike + one.alike, so_far.contexts + one.contexts)
    return apps
