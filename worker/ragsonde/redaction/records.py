"""What was found in a record, as it may be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.table import find_fields
from ragsonde.redaction.findings import hide_user, protect_findings, withhold_findings
from ragsonde.redaction.spans import find_failure
from ragsonde_schemas.decoded import WholeTrace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragsonde.extraction.findings import Findings
    from ragsonde.redaction.privacy import Privacy
    from ragsonde_schemas.decoded import Record


def protect_found(found: Iterable[Findings], record: Record, privacy: Privacy) -> Iterator[Findings]:
    """Findings that are judged, each as it may be kept; none of a call of our own judge.

    Where spans were stored without their texts, the findings say why, also where nothing else was found.

    Raises:
        DatabaseLostError: the keys of users' ids cannot be read.
    """
    failure = find_failure(record.spans) if isinstance(record, WholeTrace) else None
    if failure is not None:
        for one in tuple(found) or find_fields(record, is_known=True):
            yield withhold_findings(hide_user(one, privacy), failure, privacy.redaction)
        return
    for one in found:
        if not one.is_judge_call:
            kept = protect_findings(one, privacy)
            privacy.on_redacted(kept.counts)
            yield kept.value
