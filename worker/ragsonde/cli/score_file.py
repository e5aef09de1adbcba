"""Scores in a CSV file: a line a trace, streams told apart by their columns."""

from __future__ import annotations

import csv
from array import array
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ragsonde.regression.blocks import BlockCounts, count_blocks, find_block
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEEDED = ("time", "value")
OPTIONAL = ("stratum", "scorer", "app", "release")
_LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


@dataclass(slots=True)
class ScoreStream:
    """The scores of one scorer and app.

    Attributes:
        name: scorer and app, as far as the file tells them.
        seconds: of each trace, since the epoch.
        values: scores from 0 to 1.
        strata: names by their places; '' is of traces that have none.
        stratum: the place of each trace's.
        first_seen: of each release, the block of its first trace.
    """

    name: str
    seconds: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    strata: dict[str, int] = field(default_factory=dict)
    stratum: array[int] = field(default_factory=lambda: array("i"))
    first_seen: dict[str, int] = field(default_factory=dict)

    def count(self) -> BlockCounts:
        """The traces as counts."""
        return count_blocks(
            self.seconds, self.values, stratum=self.stratum, strata=tuple(self.strata) or ("",)
        )


class _Reader(Protocol):
    """What `csv.reader` returns."""

    line_num: int

    def __next__(self) -> list[str]: ...


class ScoreFile(NamedTuple):
    """The streams of a file by name, and how many of its lines have no score."""

    streams: list[ScoreStream]
    unscored: int


def read_scores(path: Path) -> ScoreFile:
    """The streams of a CSV file with the columns time and value, and perhaps stratum, scorer, app, release.

    Times are ISO 8601, without a zone UTC, or seconds since the epoch. A line whose value is empty is a trace
    without a score.

    Raises:
        InputError: the file cannot be read, or a line of it; which line and column, and what was expected.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _read(csv.reader(file, strict=True), path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: found byte {error.object[error.start]:#04x}, expected UTF-8") from error


def _read(reader: _Reader, path: Path) -> ScoreFile:
    streams: dict[str, ScoreStream] = {}
    unscored = 0
    lines = _read_lines(reader, path)
    columns = _find_columns(next(lines, None), path)
    for line in lines:
        if len(line) != columns.width:
            raise InputError(
                f"{_name_line(path, reader)}: found {len(line)} fields, expected {columns.width}"
            )
        row = {name: line[place].strip() for name, place in columns.places.items()}
        if not row["value"]:
            unscored += 1
            continue
        name = "/".join(row[part] for part in ("scorer", "app") if row.get(part)) or "scores"
        stream = streams.setdefault(name, ScoreStream(name))
        seconds = _read_time(row["time"], where=f"{_name_line(path, reader)}, column time")
        stream.seconds.append(seconds)
        stream.values.append(_read_value(row["value"], where=f"{_name_line(path, reader)}, column value"))
        stream.stratum.append(stream.strata.setdefault(row.get("stratum", ""), len(stream.strata)))
        if release := row.get("release"):
            block = find_block(seconds)
            stream.first_seen[release] = min(block, stream.first_seen.get(release, block))
    return ScoreFile([streams[name] for name in sorted(streams)], unscored)


def _read_lines(reader: _Reader, path: Path) -> Iterator[list[str]]:
    """The lines that are not blank."""
    while True:
        try:
            line = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"{_name_line(path, reader)}: cannot be read as CSV: {error}") from error
        if line:
            yield line


class _Columns(NamedTuple):
    places: dict[str, int]
    width: int


def _find_columns(heading: list[str] | None, path: Path) -> _Columns:
    if heading is None:
        raise InputError(f"{path}: found nothing, expected a first line that names the columns: time,value")
    names = [name.strip().lower() for name in heading]
    known = (*NEEDED, *OPTIONAL)
    for name in NEEDED:
        if name not in names:
            raise InputError(f"{path}, line 1: found {','.join(names)[:200]!r}, expected a column {name}")
    for name in known:
        if names.count(name) > 1:
            raise InputError(f"{path}, line 1: found the column {name} twice, expected it once")
    return _Columns({name: names.index(name) for name in known if name in names}, len(names))


def _name_line(path: Path, reader: _Reader) -> str:
    return f"{path}, line {reader.line_num}"


def _read_time(text: str, *, where: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = _read_moment(text, where=where)
    if not 0 <= seconds < _LATEST:
        raise InputError(
            f"{where}: found {text[:80]!r}, expected a time from 1970 on, in seconds if a number"
        )
    return seconds


def _read_moment(text: str, *, where: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).timestamp()
    except (ValueError, OverflowError):
        raise InputError(
            f"{where}: found {text[:80]!r}, expected a time (`2026-10-01T12:00:00Z`) or seconds since 1970"
        ) from None


def _read_value(text: str, *, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(f"{where}: found {text[:80]!r}, expected a score from 0 to 1, or nothing")
    return value
