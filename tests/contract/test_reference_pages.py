"""The generated reference pages are what the code writes, and leave nothing out."""

import json
import re
from pathlib import Path

import pytest

from ragsonde.api.evaluation import evaluate
from ragsonde.cli.main import COMMANDS, load_command
from ragsonde.settings import Settings, read_settings
from ragsonde.settings.effective import show_values
from ragsonde.storage.tables import Tables
from ragsonde_schemas.message import TraceMessage
from reference_pages.column_words import EVERYWHERE, OF_ONE_TABLE
from reference_pages.json_types import name_type
from reference_pages.settings_page import list_rows
from reference_pages.table import PAGES
from reference_pages.tables_page import OTHER_AGES

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
SETTINGS = list(list_rows())
OPTIONAL = tuple(f"{row.path}." for row in SETTINGS if row.default is None)
PLAIN = [
    row
    for row in SETTINGS
    if not isinstance(row.default, list | dict | None)
    and "[]" not in row.path
    and not row.path.startswith(OPTIONAL)
]
"""Settings of one value whose default a variable can say."""


def read_page(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def list_first_cells(page):
    """What stands in backticks at the beginning of each row of its tables."""
    return re.findall(r"^\| \[?`([^`]+)`", page, re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_what_the_code_writes(name):
    """Write all of them again with `make reference` when the code has changed on purpose."""
    assert PAGES[name]() == read_page(name)


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.path)
def test_every_setting_says_what_it_is(row):
    assert row.field.description, "give the field a description"
    assert not row.field.description.endswith("."), "it stands in a table"


def test_every_setting_in_force_is_on_the_page():
    """By `check-config`'s own list of values, whose names of judges and instances are the reader's."""
    page = read_page("settings.md")
    told = set(list_first_cells(page))

    def walk(values, path):
        for key, value in values.items():
            assert f"{path}{key}" in told
            if isinstance(value, dict) and any(one.startswith(f"{path}{key}.") for one in told):
                walk(value, f"{path}{key}.")

    values = show_values(Settings())
    walk(values, "")
    walk(values["judges"][0], "judges[].")


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row.path)
def test_a_variable_of_the_page_is_read_and_its_default_is_the_one_that_is_told(row):
    text = row.default if isinstance(row.default, str) else json.dumps(row.default)
    assert f"`{row.path}`<br>`{row.variable}`" in read_page("settings.md")
    assert read_settings(environ={row.variable: text}) == Settings()


def test_a_variable_of_an_item_is_read():
    read = read_settings(environ={"RAGSONDE_JUDGES__LEXICAL__SAMPLE": "0.5"})
    assert read.judges[0].sample == 0.5
    assert "`RAGSONDE_JUDGES__NAME__SAMPLE`" in read_page("settings.md")


def test_what_is_never_shown_is_marked_as_secret():
    rows = [line for line in read_page("settings.md").splitlines() if "**secret**" in line]
    assert {line.split("`")[1] for line in rows} == {
        "broker_url",
        "database_url",
        "judges[].api_key",
        "judges[].fallbacks[].api_key",
        "metrics.token",
        "page.token",
        "receiver.token",
        "regression.grafana.token",
        "user_key",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_in_its_part(name):
    part = read_page("cli.md").partition(f"\n## ragsonde {name}\n")[2].partition("\n## ")[0]
    parameters = load_command(name).params
    shown = [one for one in parameters if not one.hidden and one.name != "help"]
    for parameter in shown:
        names = parameter.opts if parameter.opts[0].startswith("-") else [parameter.name.upper()]
        assert all(f"`{one}`" in part for one in names), parameter.name
    assert len(list_first_cells(part)) == len(shown)
    assert "```text\nragsonde" in part or "```text\nRAGSONDE" in part


def test_every_table_and_column_is_there_with_how_long_its_rows_stay():
    page = read_page("tables.md")
    ages = re.findall(r"^\| \[`(\w+)`\]\(#\1\).*? \| ([^|]+) \|", page, re.MULTILINE)
    assert [name for name, _ in ages] == sorted(Tables.metadata.tables)
    assert not set(OTHER_AGES) - set(Tables.metadata.tables)
    for name, table in Tables.metadata.tables.items():
        part = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert list_first_cells(part) == [column.name for column in table.columns]
        assert "|  |\n" not in part, "a column says what it is, in the docstring or in column_words.py"


def test_no_words_are_kept_for_a_column_that_is_gone():
    columns = {str(column) for table in Tables.metadata.tables.values() for column in table.columns}
    assert set(OF_ONE_TABLE) <= columns
    assert set(EVERYWHERE) <= {column.partition(".")[2] for column in columns}


def test_parts_that_many_settings_have_are_told_once():
    page = read_page("settings.md")
    assert page.count("| `extraction[].query[].path`") == 1
    assert "`extraction[].answer[].path`" not in page
    (answer,) = [line for line in page.splitlines() if line.startswith("| `extraction[].answer`")]
    assert "its parts as of `extraction[].query[]`" in answer


def test_every_retention_is_told_of_a_table():
    told = set(re.findall(r"`retention_days\.(\w+)`\)", read_page("tables.md")))
    assert told == set(Settings().retention_days.model_dump())


def test_the_example_message_is_one_and_is_scored():
    (block,) = re.findall(r"```json\n(.*?)```", read_page("message.md"), re.DOTALL)
    message = json.loads(block)
    assert TraceMessage.model_validate(message).model_extra == {}
    assert evaluate([message]).scores["context_precision"].n == 1


def test_every_key_of_the_message_says_what_it_is():
    page = read_page("message.md")
    assert set(TraceMessage.model_fields) <= set(list_first_cells(page))
    assert "|  |\n" not in page


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "ge": 1, "le": 2_000}, "whole number, >= 1, <= 2,000"),
        ({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]}, "number, > 0; or null"),
        ({"type": "array", "items": {"type": "string"}, "minLength": 1}, "list of text, at least 1"),
        (
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "list of (text or null)",
        ),
        ({"$ref": "#/$defs/Way"}, "one of `a`, `b`"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "mapping of number"),
    ],
)
def test_types_in_words(schema, words):
    assert name_type(schema, definitions={"Way": {"enum": ["a", "b"]}}) == words
