"""Every page that is written, by its file in docs/reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.cli import scorer_page, series_page
from ragsonde.scoring.table import FORMULAS
from reference_pages import cli_page, message_page, settings_page, tables_page

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page.write_page,
    "message.md": message_page.write_page,
    "scorers.md": lambda: scorer_page.write_page(FORMULAS),
    "series.md": series_page.write_page,
    "settings.md": settings_page.write_page,
    "tables.md": tables_page.write_page,
}
