"""The file of annotations: a line a trace, each added whole; and the answers of a trace that is not done."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragsonde.judging.recorded import RecordedJudge, read_record
from ragsonde.servers.ownership import Ownership
from ragsonde.servers.processes import read_pid
from ragsonde_schemas.errors import InputError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def open_annotations(path: Path) -> Iterator[AnnotationFile]:
    """The file for one session alone: `PATH.lock` is held until the block, or the process, ends.

    Raises:
        InputError: another process annotates into it, or as for `AnnotationFile`.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: found a pipe, device or directory, expected a regular file or a new name")
    lock = path.with_name(f"{path.name}.lock")
    owner = Ownership(lock, what="ragsonde annotate")
    try:
        owner.take()
    except SetupError as error:
        if isinstance(error.__cause__, PermissionError):
            raise InputError(f"{lock}: belongs to another user; choose another --out") from error
        raise InputError(
            f"{path}: is being annotated by process {read_pid(lock) or 'unknown'}: end that session with q, "
            "or choose another --out"
        ) from error
    except OSError as error:
        raise InputError(f"{lock}: cannot be written: {error.strerror}") from error
    try:
        yield AnnotationFile(path)
    finally:
        owner.release()


class AnnotationFile:
    """Annotations as recorded assessments, JSON lines.

    Raises:
        InputError: the file is there and a line of it is no annotation, or it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft_path = path.with_name(f"{path.name}.draft")
        recorded = RecordedJudge(name="people", path=path).trace_ids if path.exists() else frozenset()
        self._trace_ids = set(recorded)

    @property
    def name(self) -> str:
        """As it was given."""
        return str(self._path)

    def __contains__(self, trace_id: str) -> bool:
        return trace_id in self._trace_ids

    def add(self, record: dict[str, Any]) -> None:
        """Adds a line in one write; an annotation of the same trace is replaced.

        Raises:
            InputError: it cannot be written.
        """
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            if record["trace_id"] in self._trace_ids:
                self._replace(record["trace_id"], line)
            else:
                self._append(line)
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written: {error.strerror}") from error
        self._trace_ids.add(record["trace_id"])
        self._draft_path.unlink(missing_ok=True)

    def keep_draft(self, trace_id: str, answers: list[str]) -> None:
        """Keeps the answers given so far about a trace."""
        part = self._draft_path.with_name(f"{self._draft_path.name}.part")
        try:
            part.write_text(json.dumps({"trace_id": trace_id, "answers": answers}), encoding="utf-8")
            part.replace(self._draft_path)
        except OSError as error:
            raise InputError(f"{self._draft_path}: cannot be written: {error.strerror}") from error

    def read_draft(self, trace_id: str) -> list[str]:
        """The answers that were kept about this trace, none where there are none."""
        try:
            draft = json.loads(self._draft_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        is_own = isinstance(draft, dict) and draft.get("trace_id") == trace_id
        answers = draft.get("answers") if is_own else None
        return [str(answer) for answer in answers] if isinstance(answers, list) else []

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line
            os.write(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _replace(self, trace_id: str, line: bytes) -> None:
        lines = [one for one in self._path.read_bytes().split(b"\n") if one.strip()]
        kept = [one for one in lines if read_record(one, where=self.name)["trace_id"] != trace_id]
        part = self._path.with_name(f"{self._path.name}.part")
        part.write_bytes(b"".join(one + b"\n" for one in kept) + line)
        part.replace(self._path)
