"""The numbers of docs/reference/limits.md are those of the code."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from ragsonde.settings import Settings

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "limits.md").read_text()
ROWS = re.findall(r"(?m)^\| (.+?) \| (.+?) \| .+? \| (setting )?`([\w.:]+)` \|$", PAGE)


def find_value(path, *, is_setting):
    """What a setting, a constant, a field's default, a parameter's default or a cache's size is."""
    if is_setting:
        value = Settings()
        for name in path.split("."):
            value = getattr(value, name)
        return value
    module, _, names = path.partition(":")
    value = import_module(module)
    for name in names.split("."):
        if inspect.isclass(value):
            return inspect.signature(value).parameters[name].default
        value = getattr(value, name)
    return value.cache_parameters()["maxsize"] if hasattr(value, "cache_parameters") else value


def test_every_row_names_where_it_is_set():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    headings = [line for line in rows if line.startswith(("| what", "| ---"))]
    assert len(ROWS) == len(rows) - len(headings)


@pytest.mark.parametrize(
    ("most", "is_setting", "path"),
    [pytest.param(most, bool(kind), path, id=path) for _, most, kind, path in ROWS if most[0].isdigit()],
)
def test_a_limit_is_what_the_page_says(most, is_setting, path):
    told = int(re.match(r"[\d,]+", most)[0].replace(",", ""))
    assert told == find_value(path, is_setting=is_setting)
