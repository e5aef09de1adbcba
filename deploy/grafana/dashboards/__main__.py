"""`python -m dashboards`: writes the dashboards as JSON, by default beside this package."""

from __future__ import annotations

import argparse
from pathlib import Path

from dashboards.written import DEFAULT_PAGE, write_dashboards


def main() -> None:
    """Writes the files and prints their paths.

    Those that are committed are the same for everybody: with an address of one's own they go elsewhere.
    """
    parser = argparse.ArgumentParser(prog="python -m dashboards", description=__doc__)
    beside = Path(__file__).resolve().parents[1]
    parser.add_argument(
        "folder", nargs="?", type=Path, default=beside, help="made if it is missing (default: %(default)s)"
    )
    parser.add_argument(
        "--page", default=DEFAULT_PAGE, help="of the monitor, as browsers reach it (default: %(default)s)"
    )
    chosen = parser.parse_args()
    page = chosen.page.rstrip("/")
    if page != DEFAULT_PAGE and chosen.folder.resolve() == beside:
        parser.error(
            f"--page {page}: found no folder, and {beside} holds the committed files, with {DEFAULT_PAGE}; "
            f"expected FOLDER --page {page}"
        )
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for path in write_dashboards(chosen.folder, page=page):
        print(f"wrote {path}")  # noqa: T201 - a program's output


if __name__ == "__main__":
    main()
