"""Many copies of the seeds' rows, by COPY into the partitions: other ids, hashes, days and times."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple

from psycopg.sql import SQL, Composed, Identifier, Literal
from seeds import APPS, PAID, PAID_EVERY

from ragsonde.storage.partitions import name_partition
from ragsonde.storage.table_names import TRACE_TABLES
from ragsonde.storage.tables import Tables

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    import psycopg

CHUNK = 5_000
HOURS_A_DAY = 23
"""The last hour stays empty, for what is written while it is measured."""
_MOMENTS = frozenset({"admitted_at", "occurred_at", "created_at", "finished_at"})
_CHANGED = {"trace_id": "%(id)s", "app": "%(app)s", "day": "%(day)s", "content_hash": "%(hash)s"}
_NULL = "\\N"


class Copies(NamedTuple):
    """The lines of one seed, by table, with places for what differs; the LLM's apart."""

    free: dict[str, list[str]]
    paid: dict[str, list[str]]


def read_copies(connection: psycopg.Connection, seeds: int) -> list[Copies]:
    """The rows that the seeds have in each table, as lines of COPY, after which they are deleted."""
    copies = [Copies({}, {}) for _ in range(seeds)]
    for table in TRACE_TABLES:
        names = [column.name for column in Tables.metadata.tables[table].columns]
        query = SQL("COPY (SELECT {} FROM {} WHERE trace_id LIKE 'seed-%') TO STDOUT").format(
            SQL(", ").join(map(Identifier, names)), Identifier(table)
        )
        with connection.cursor().copy(query) as rows:
            lines = [bytes(line).decode().rstrip("\n") for line in rows]
        for line in lines:
            fields = line.split("\t")
            number = int(fields[0].removeprefix("seed-"))
            is_paid = "judge" in names and fields[names.index("judge")] == PAID
            part = copies[number].paid if is_paid else copies[number].free
            part.setdefault(table, []).append(_open_places(names, fields))
        connection.execute(SQL("DELETE FROM {} WHERE trace_id LIKE 'seed-%'").format(Identifier(table)))
    return copies


def fill_day(
    connection: psycopg.Connection,
    copies: list[Copies],
    *,
    day: date,
    traces: int,
    rng: random.Random,
    on_chunk: Callable[[int], None],
) -> None:
    """So many traces more on a day, in the order of their times."""
    done = 0
    begin = datetime.combine(day, time.min, tzinfo=UTC)
    while done < traces:
        number = min(CHUNK, traces - done)
        span = timedelta(hours=HOURS_A_DAY) / traces
        values = [
            {
                "id": f"{rng.getrandbits(128):032x}",
                "hash": f"{rng.getrandbits(256):064x}",
                "app": APPS[int(len(APPS) * rng.random() ** 2)],
                "day": day.isoformat(),
                "at": (begin + span * (done + index)).isoformat(),
                "number": done + index,
            }
            for index in range(number)
        ]
        chosen = [rng.choice(copies) for _ in values]
        for table in TRACE_TABLES:
            target = SQL("COPY {} FROM STDIN").format(_list_target(table, day))
            with connection.cursor().copy(target) as rows:
                rows.write("".join(_list_lines(table, values, chosen)))
        connection.commit()
        done += number
        on_chunk(number)


def count_day(connection: psycopg.Connection, day: date) -> int:
    """Traces of the day."""
    query = SQL("SELECT count(*) FROM trace WHERE day = {}").format(Literal(day))
    (count,) = connection.execute(query).fetchone() or (0,)
    return int(count)


def _list_lines(table: str, values: list[dict[str, object]], chosen: list[Copies]) -> Iterator[str]:
    for value, copy in zip(values, chosen, strict=True):
        for line in copy.free.get(table, ()):
            yield line % value
        if int(str(value["number"])) % PAID_EVERY == 0:
            for line in copy.paid.get(table, ()):
                yield line % value


def _list_target(table: str, day: date) -> SQL | Composed:
    names = [Identifier(column.name) for column in Tables.metadata.tables[table].columns]
    return SQL("{} ({})").format(Identifier(name_partition(table, day=day)), SQL(", ").join(names))


def _open_places(names: list[str], fields: list[str]) -> str:
    places = []
    for name, field in zip(names, fields, strict=True):
        if name in _CHANGED:
            places.append(_CHANGED[name])
        elif name in _MOMENTS and field != _NULL:
            places.append("%(at)s")
        else:
            places.append(field.replace("%", "%%"))
    return "\t".join(places) + "\n"
