"""Writes the pages: `python -m reference_pages`, from anywhere in a clone."""

from __future__ import annotations

import sys
from pathlib import Path

from reference_pages.table import PAGES

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "reference"


def write_pages() -> list[str]:
    """Names of the pages that were not as the code has them, and are now."""
    changed = []
    for name, write in PAGES.items():
        page, path = write(), FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")
            changed.append(name)
    return changed


if __name__ == "__main__":
    sys.stdout.write(f"written anew: {', '.join(write_pages()) or 'none'}\n")
