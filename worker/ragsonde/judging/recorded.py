"""The recorded judge: verdicts from a file, people's annotations or stored assessments."""

from __future__ import annotations

import stat
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.json_text import read_json
from ragsonde.extraction.nesting import NESTING_LEVELS
from ragsonde.judging.fingerprint import compute_fingerprint
from ragsonde.scoring.verdict_words import read_flag
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Aspect, Assessment, Fault
from ragsonde_schemas.errors import Cause, DecodeError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ragsonde_schemas.trace import Trace

_LONGEST_SHOWN = 60


class RecordedJudge:
    """Looks verdicts up by trace id; free, offline.

    The fingerprint holds the file's bytes: other verdicts are another series.

    Args:
        name: as configured.
        path: JSONL, one object a trace: `{trace_id, contexts: {"1": {...}}, ...}`.
        called: what the file holds, in messages about it.

    Raises:
        InputError: the file cannot be read, or a line of it is not such an object.
    """

    is_free = True

    def __init__(self, *, name: str, path: Path, called: str = "recorded verdicts") -> None:
        content = _read_file(path, called=called)
        self.name = name
        self.fingerprint = compute_fingerprint("recorded", model=sha256(content).hexdigest())
        self._path = path
        self._recorded = _read_lines(content, path)

    @property
    def trace_ids(self) -> frozenset[str]:
        """Of which traces verdicts are recorded."""
        return frozenset(self._recorded)

    def assess(
        self,
        trace: Trace,
        aspects: frozenset[Aspect],
        *,
        deadline: float | None = None,  # noqa: ARG002 - a look-up takes no time
    ) -> Assessment:
        """The verdicts recorded for `aspects`; a trace that is not in the file is a fault in each."""
        found = self._recorded.get(trace.trace_id)
        if found is None:
            message = f"trace {trace.trace_id} is not in {self._path.name}"
            fault = Fault(cause=Cause.NOT_ASSESSED, message=message)
            return Assessment(faults=dict.fromkeys(sorted(aspects), fault))
        assessment = read_assessment(found, trace, aspects=aspects)
        if Aspect.ESSENTIAL in aspects and assessment.insufficient is None:
            # people may say whether the contexts suffice without naming the sentences that do
            return assessment.model_copy(update={"insufficient": read_flag(found.get("insufficient"))})
        return assessment


def _read_file(path: Path, *, called: str) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for, a device may have no end
            raise InputError(
                f"{path}: cannot read the {called}: found a pipe, device or directory, expected a "
                "regular file of JSON lines; write them to one first"
            )
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the {called}: {error.strerror}") from error


def _read_lines(content: bytes, path: Path) -> dict[str, dict[str, Any]]:
    recorded: dict[str, dict[str, Any]] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        found = read_record(line, where=f"{path}:{number}")
        trace_id = found["trace_id"]
        if trace_id in lines:
            raise InputError(
                f"{path}:{number}: trace_id {trace_id[:_LONGEST_SHOWN]} is there twice, first in line "
                f"{lines[trace_id]}: keep one of them"
            )
        lines[trace_id] = number
        recorded[trace_id] = found
    return recorded


def read_record(line: bytes, *, where: str) -> dict[str, Any]:
    """One recorded assessment, an object with a `trace_id`.

    Args:
        line: strict JSON: each key once, for readers disagree about which of two holds.
        where: file and line, for the error.

    Raises:
        InputError: it is none; the error names the key.
    """
    try:
        found = read_json(line, nesting_levels=NESTING_LEVELS).value
    except DecodeError as error:
        raise InputError(f"{where}: {str(error).removeprefix('body: ')}") from error
    if not isinstance(found, dict):
        raise InputError(f"{where}: found {type(found).__name__}, expected an object with trace_id")
    trace_id = found.get("trace_id")
    if not isinstance(trace_id, str) or not trace_id:
        raise InputError(f"{where}: trace_id: found {str(trace_id)[:_LONGEST_SHOWN]!r}, expected a text")
    return found
