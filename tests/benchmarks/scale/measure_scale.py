"""What inserts and reads cost at 0.3, 1 and 3 million stored traces: `make bench-scale`.

Needs Postgres (`TEST_DATABASE_URL`, else the one on 127.0.0.1:5432), about 7 GB of disk a million traces and
an hour; makes a database of its own there and drops it. Whatever else the machine does is measured too.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from sqlalchemy import text

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from filling import Copies, count_day, fill_day, read_copies  # noqa: E402 - the tests' folder must be on the path first
from questions import Answer, Questions, measure_sizes  # noqa: E402
from seeds import Seed, make_seeds  # noqa: E402

from fakes.clock import FakeClock  # noqa: E402
from ragsonde.storage.engine import build_engine  # noqa: E402
from ragsonde.storage.migrations import migrate  # noqa: E402
from ragsonde.storage.partitions import ensure_day, ensure_partitions  # noqa: E402
from ragsonde.storage.trace_choice import list_days  # noqa: E402
from ragsonde.storage.trace_store import PostgresTraceStore  # noqa: E402
from services.postgres import find_server, own_database  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from sqlalchemy import Engine

NOW = datetime(2026, 6, 15, 23, 30, tzinfo=UTC)
BAR = 1.3
"""What a figure may grow by from the last but one count of traces to the last."""


def main() -> int:
    options = _read_options()
    server = find_server()
    if server is None:
        sys.exit("make bench-scale needs Postgres on 127.0.0.1:5432, or TEST_DATABASE_URL")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the database is dropped
    console = Console(width=150)
    if options.measure:
        return _measure_filled(options, console)
    if options.fill:
        migrate(options.fill)
        engine = build_engine(options.fill, application_name="ragsonde bench-scale", pool_size=10)
        for _ in _fill_steps(engine, options.fill, options, make_seeds(NOW, contexts=options.contexts)):
            pass
        return 0
    with own_database(server) as url:
        migrate(url)
        engine = build_engine(url, application_name="ragsonde bench-scale", pool_size=10)
        try:
            return _measure(engine, url, options, console)
        finally:
            engine.dispose()


def _measure(engine: Engine, url: str, options: argparse.Namespace, console: Console) -> int:
    seeds = make_seeds(NOW, contexts=options.contexts)
    found = [
        _ask(engine, FakeClock(NOW), seeds, days, console)
        for days in _fill_steps(engine, url, options, seeds)
    ]
    console.print(_tell_sizes(engine, count=_count(engine)))
    return _tell_growth(found, options.traces, console)


def _measure_filled(options: argparse.Namespace, console: Console) -> int:
    """Measures databases that are filled already, one after the other, so that all find the same machine."""
    found, counts = [], []
    for url in options.measure:
        engine = build_engine(url, application_name="ragsonde bench-scale", pool_size=10)
        counts.append(_count(engine))
        seeds = make_seeds(NOW, contexts=options.contexts)
        found.append(_ask(engine, FakeClock(NOW), seeds, options.days, console))
        console.print(_tell_sizes(engine, count=counts[-1]))
        engine.dispose()
    return _tell_growth(found, counts, console)


def _fill_steps(
    engine: Engine, url: str, options: argparse.Namespace, seeds: Sequence[Seed]
) -> Iterator[int]:
    """Stores more and more traces, and yields after each step over how many days they are spread."""
    ensure_partitions(engine, today=NOW.date())
    with psycopg.connect(url) as connection:
        copies = _store_seeds(engine, FakeClock(NOW), seeds, connection)
        for traces in options.traces:
            days = max(2, options.days * traces // max(options.traces)) if options.longer else options.days
            _fill(engine, connection, copies, days=list_days(NOW.date(), days=days), traces=traces)
            connection.commit()
            connection.autocommit = True
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
            connection.autocommit = False
            yield days


def _tell_growth(found: Sequence[Sequence[Answer]], traces: Sequence[int], console: Console) -> int:
    table, is_met = _compare(found, traces)
    console.print(table)
    return 0 if is_met else 1


def _ask(
    engine: Engine, clock: FakeClock, seeds: Sequence[Seed], days: int, console: Console
) -> list[Answer]:
    count = _count(engine)
    answers = []
    for answer in Questions(engine, clock, seeds, days=days).ask():
        answers.append(answer)
        console.print(
            f"{count:>10,}  {answer.what}: {answer.value:.3g} {answer.unit}, {answer.pages:,.0f} pages"
        )
    return answers


def _store_seeds(
    engine: Engine, clock: FakeClock, seeds: Sequence[Seed], connection: psycopg.Connection
) -> list[Copies]:
    store = PostgresTraceStore(engine, clock=clock)
    for seed in seeds:
        admission = store.admit(seed.trace, (seed.free, seed.waiting))
        claimed = store.claim(admission.pending[0])
        assert claimed is not None
        store.finish(claimed, seed.paid)
    copies = read_copies(connection, len(seeds))
    connection.commit()
    return copies


def _fill(
    engine: Engine,
    connection: psycopg.Connection,
    copies: list[Copies],
    *,
    days: Sequence[date],
    traces: int,
) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    rng = random.Random(traces)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"{traces:,} traces", total=traces)
        for day in days:
            ensure_day(engine, day=day)
            present = count_day(connection, day)
            progress.advance(task, present)
            fill_day(
                connection,
                copies,
                day=day,
                traces=max(0, traces // len(days) - present),
                rng=rng,
                on_chunk=lambda number: progress.advance(task, number),
            )


def _compare(found: Sequence[Sequence[Answer]], traces: Sequence[int]) -> tuple[Table, bool]:
    headings = [f"{number:,}" for number in traces]
    table = Table("what", *headings, "ratio", "of pages", f"<= {BAR:g}", title="by traces stored")
    is_met = True
    for answers in zip(*found, strict=True):
        first = answers[-2] if len(answers) > 1 else answers[-1]
        last = answers[-1]
        ratio = first.value / last.value if last.is_rate else last.value / first.value
        pages = last.pages / first.pages if first.pages else ratio
        is_within = min(ratio, pages) <= BAR
        verdict = "yes" if is_within else "reads all rows" if last.grows else "[red]NO[/red]"
        is_met = is_met and (is_within or last.grows)
        values = [
            f"{answer.value:,.3g} {answer.unit}" + (f", {answer.pages:,.0f} pages" if answer.pages else "")
            for answer in answers
        ]
        table.add_row(last.what, *values, f"{ratio:.2f}", f"{pages:.2f}" if first.pages else "", verdict)
    return table, is_met


def _tell_sizes(engine: Engine, *, count: int) -> Table:
    table = Table("table", "bytes a trace", "of its indexes", title=f"size of {count:,} traces")
    sizes = measure_sizes(engine, traces=count)
    for name, (rows, indexes) in sorted(sizes.items(), key=lambda item: -sum(item[1])):
        table.add_row(name, f"{rows:,.0f}", f"{indexes:,.0f}")
    total = [sum(column) for column in zip(*sizes.values(), strict=True)]
    table.add_row("all", f"{total[0]:,.0f}", f"{total[1]:,.0f}")
    return table


def _count(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM trace")).scalar_one())


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--traces",
        type=lambda value: [int(float(part) * 1_000_000) for part in value.split(",")],
        default=[300_000, 1_000_000, 3_000_000],
        help="millions, with commas: the last two are compared (default 0.3,1,3)",
    )
    parser.add_argument(
        "--contexts",
        type=int,
        default=2,
        help="of each trace, short ones (default 2, as 5 take 12 GB a million)",
    )
    parser.add_argument("--days", type=int, default=14, help="partitions they are spread over (default 14)")
    parser.add_argument(
        "--longer",
        action="store_true",
        help="more traces are more days of the same load, --days those of the last; else they are more a day",
    )
    parser.add_argument(
        "--fill",
        metavar="URL",
        help="measure nothing: fill this empty database with as many as --traces says, and leave it",
    )
    parser.add_argument(
        "--measure",
        metavar="URL",
        nargs="+",
        help="fill nothing: measure databases that are filled, which are not dropped",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
