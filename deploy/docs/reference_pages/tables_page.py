"""The page of the tables, written from their SQLAlchemy classes."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, UniqueConstraint
from sqlalchemy.dialects import postgresql

from ragsonde.monitor.upkeep import list_retention
from ragsonde.settings import Settings
from ragsonde.storage.alert_notices import KEPT_NOTICES
from ragsonde.storage.check_traces import DAYS_OF_RESULTS, DAYS_OF_SCORES
from ragsonde.storage.erasure_map import HOLDINGS, WORDS
from ragsonde.storage.sample_rates import KEPT
from ragsonde.storage.table_names import PARTITIONED
from ragsonde.storage.tables import CURRENT_SCORE, Tables
from ragsonde.watching.jobs import KEPT_RULES, KEPT_STATES
from reference_pages.column_words import find_words
from reference_pages.markdown import draw_table, join_lines, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Table

_FOR_EVER = "for ever"
_AS_THE_SETTING_SAYS = {
    "span_buffer": "span",
    "open_record": "span",
    "suspect": "parked_message",
    **{name: name for name in (*PARTITIONED, "parked_message")},
}
"""Tables whose age is one of `retention_days`."""
OTHER_AGES = {
    "alert": _FOR_EVER,
    "alert_notice": f"{KEPT_NOTICES.days} days after its alert was closed",
    "backfill": _FOR_EVER,
    "backfill_item": "while it is under way",
    "baseline": _FOR_EVER,
    "block_change": "until the stream was judged by it",
    "check_result": f"scores {DAYS_OF_SCORES} days, the row {DAYS_OF_RESULTS}; the first for ever",
    "check_set": "until it leaves the set: then its texts go",
    "dirty_mark": "until the blocks were counted",
    "extraction_block": f"{KEPT_RULES.days} days",
    "judge_answers": "a day",
    "judge_epoch": _FOR_EVER,
    "judge_spend": _FOR_EVER,
    "judge_state": _FOR_EVER,
    "label_budget": "while the name has a place",
    "monitor_state": f"{KEPT_STATES.days} days; the newest row of a stream for ever",
    "sample_rate": f"{KEPT.days} days",
    "score_block_cursor": _FOR_EVER,
    "score_stream": "for ever; of the demo until `ragsonde drop-demo`",
    "scorer_version": _FOR_EVER,
    "stream_arming": _FOR_EVER,
    "tombstone": "until nothing that it keeps out can come again (`expires_at`)",
    "tombstone_salt": _FOR_EVER,
    "user_key": "until it is retired by `ragsonde user-keys`",
}
"""How long rows of the other tables stay."""
_OPENING = """\
# Tables

Written by `make reference` from the classes that reads are written against; Alembic keeps the database
equal to them (`ragsonde migrate`). Read what you like; write nothing. Scores are best read through the view
[`current_score`](#current_score). `day` is the UTC date of a trace's `occurred_at`; tables marked *by day*
have a partition for each, which is dropped whole. All times are UTC. [Keep the database
small](../how-to/keep-the-database-small.md) tells how to choose ages, [erase personal
data](../how-to/erase-personal-data.md) how `ragsonde forget` reaches each table.
"""
_ATTRIBUTE = re.compile(r"^ {4}(\w[\w, ]*): (.*(?:\n {8}.*)*)", re.MULTILINE)


def write_page() -> str:
    """The page, as Markdown."""
    names = sorted(Tables.metadata.tables)
    summary = draw_table(
        ("table", "rows stay", "what of traces is in it", "`ragsonde forget`"),
        (
            (
                f"[{quote(name)}](#{name}){', *by day*' if name in PARTITIONED else ''}",
                _name_age(name),
                HOLDINGS[name].holds,
                WORDS[HOLDINGS[name].reach],
            )
            for name in names
        ),
    )
    columns = ", ".join(quote(column.name) for column in CURRENT_SCORE.columns)
    view = (
        "## current_score\n\nA view, no table: the scores that count. Of each trace the newest revision, of "
        f"each scorer the version that is active. It has the columns of [`score`](#score): {columns}.\n"
    )
    classes = {mapper.local_table.name: mapper.class_ for mapper in Tables.registry.mappers}  # type: ignore[attr-defined]  # each is one Table
    parts = (_describe(classes[name], Tables.metadata.tables[name]) for name in names)
    return "\n".join([_OPENING, summary, view, *parts])


def _name_age(name: str) -> str:
    if name not in _AS_THE_SETTING_SAYS:
        return OTHER_AGES[name]
    setting = _AS_THE_SETTING_SAYS[name]
    days = list_retention(Settings())[setting]
    closed = " after it was closed" if setting == "span" else ""
    return f"{days} day{'s' if days > 1 else ''}{closed} (`retention_days.{setting}`)"


def _describe(row: type[Tables], table: Table) -> str:
    docstring = inspect.cleandoc(row.__doc__ or "")
    meaning = docstring.partition("\nAttributes:")[0]
    meanings = {
        name: join_lines(words).removesuffix(".")
        for names, words in _ATTRIBUTE.findall(docstring)
        for name in names.split(", ")
    }
    columns = draw_table(
        ("column", "type", "null", "what it is"),
        (
            (
                quote(column.name),
                str(column.type.compile(dialect=postgresql.dialect())).lower(),  # type: ignore[no-untyped-call]  # SQLAlchemy's
                "yes" if column.nullable else "",
                meanings.get(column.name) or find_words(table.name, column.name),
            )
            for column in table.columns
        ),
    )
    keys = "".join(f"- {line}\n" for line in _list_keys(table))
    return f"## {table.name}\n\n{join_lines(meaning)}\n\n{columns}\n{keys}"


def _list_keys(table: Table) -> Iterator[str]:
    yield f"primary key: {_name_columns(table.primary_key.columns)}"
    for constraint in sorted(table.constraints, key=lambda one: str(one.name)):
        if isinstance(constraint, UniqueConstraint):
            yield f"unique: {_name_columns(constraint.columns)}"
        elif isinstance(constraint, ForeignKeyConstraint):
            yield f"{_name_columns(constraint.columns)} of {quote(constraint.referred_table.name)}"
        elif isinstance(constraint, CheckConstraint):
            yield f"holds: {quote(constraint.sqltext)}"
    for index in sorted(table.indexes, key=lambda one: str(one.name)):
        yield _name_index(index)


def _name_index(index: Index) -> str:
    options = index.dialect_options["postgresql"]
    kind = "unique" if index.unique else "index"
    using = f" ({options['using']})" if options["using"] else ""
    where = "" if options["where"] is None else f", where {quote(options['where'])}"
    return f"{kind}{using}: {_name_columns(index.columns)}{where}"


def _name_columns(columns: Any) -> str:  # noqa: ANN401 - any of SQLAlchemy's collections
    return ", ".join(quote(column.name) for column in columns)
