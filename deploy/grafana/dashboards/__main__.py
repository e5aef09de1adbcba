"""`python -m dashboards [FOLDER]`: writes the dashboards as JSON, by default beside this package."""

from __future__ import annotations

import sys
from pathlib import Path

from dashboards.written import write_dashboards

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    for path in write_dashboards(folder):
        print(f"wrote {path}")  # noqa: T201 - a program's output
