"""The page of series is that of the declarations."""

from pathlib import Path

from ragsonde.cli.series_page import list_all, write_page

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "series.md").read_text()


def test_the_page_is_what_list_series_writes():
    """Write it again with `ragsonde list-series --output markdown` when a series has changed on purpose."""
    assert write_page() == PAGE


def test_every_series_has_one_row():
    rows = [line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `ragsonde_")]
    assert sorted(rows) == sorted(declared.full_name for declared in list_all())
