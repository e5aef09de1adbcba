"""What `ragsonde detect FILE` tells of a stream: the command reads a file, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from told import Told

from ragsonde.regression.blocks import BLOCK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from score_streams import Stream


def ask_command(stream: Stream, topics: Sequence[str]) -> list[Told]:
    """The alerts that `ragsonde detect FILE --baseline-days 7 --output json` prints, in the order of time.

    Raises:
        subprocess.CalledProcessError: the command ended with an error.
    """
    with tempfile.TemporaryDirectory(prefix="ragsonde-bench-") as folder:
        file = Path(folder) / "scores.csv"
        write_scores(file, stream, topics)
        command = (sys.executable, "-m", "ragsonde", "detect", str(file))
        ended = subprocess.run(
            (*command, "--baseline-days", "7", "--output", "json"), check=True, capture_output=True, text=True
        )
    return [read_alert(json.loads(line)) for line in ended.stdout.splitlines() if line]


def write_scores(file: Path, stream: Stream, topics: Sequence[str]) -> None:
    """The stream as a CSV file with the columns time, value and stratum; floats as exact as they are."""
    columns = (stream.seconds.tolist(), stream.score.tolist(), stream.topic.tolist())
    with file.open("w") as out:
        out.write("time,value,stratum\n")
        out.writelines(
            f"{second!r},{score!r},{topics[topic]}\n" for second, score, topic in zip(*columns, strict=True)
        )


def read_alert(alert: dict[str, str]) -> Told:
    """A printed alert as the block at whose end it is told."""
    told, since = (
        round(datetime.fromisoformat(alert[name]).timestamp()) // BLOCK_SECONDS for name in ("at", "since")
    )
    return Told(alert["kind"], told - 1, since)
