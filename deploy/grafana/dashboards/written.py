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

DASHBOARDS = {"quality.json": build_quality, "pipeline.json": build_pipeline, "judges.json": build_judges}


def render_dashboards() -> dict[str, str]:
    """The text of each file by its name: the same whenever and wherever it is made."""
    return {
        name: json.dumps(build().build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"
        for name, build in DASHBOARDS.items()
    }


def write_dashboards(folder: Path) -> list[Path]:
    """Writes the files into a folder and returns their paths."""
    written = []
    for name, text in render_dashboards().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
