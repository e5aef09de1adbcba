"""The dashboards as files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards.judges import build_judges
from dashboards.pipeline import build_pipeline
from dashboards.quality import build_quality

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_PAGE = "http://127.0.0.1:8321"


def render_dashboards(*, page: str = DEFAULT_PAGE) -> dict[str, str]:
    """The text of each file by its name: the same whenever and wherever it is made.

    Args:
        page: address of the monitor's page, as people's browsers reach it.
    """
    boards = {
        "quality.json": build_quality(page=page),
        "pipeline.json": build_pipeline(),
        "judges.json": build_judges(),
    }
    return {
        name: json.dumps(board.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"
        for name, board in boards.items()
    }


def write_dashboards(folder: Path, *, page: str) -> list[Path]:
    """Writes the files into a folder and returns their paths."""
    written = []
    for name, text in render_dashboards(page=page).items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
