"""How wide tables are that nobody watches."""

import pytest

from ragsonde.cli.terminal import make_console


@pytest.mark.parametrize(("columns", "width"), [(None, 160), ("90", 90), ("300", 300), ("wide", 160)])
def test_in_a_pipe_tables_are_as_wide_as_columns_says(monkeypatch, columns, width):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert make_console().width == width
