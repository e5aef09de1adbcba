"""Results as OpenTelemetry events `gen_ai.evaluation.result`, beside the trace that they are about.

Names follow the semantic conventions for generative AI (status: development). The messages are made of
opentelemetry-proto: the SDK's own log exporter stands behind a private module that changes between versions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs, SeverityNumber
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from ragsonde.sinks.posting import Poster

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ragsonde.sinks.options import ScoreSinkOptions
    from ragsonde_schemas.score_event import ScoreEvent

EVENT_NAME = "gen_ai.evaluation.result"
SCOPE = "ragsonde"
LOGS_PATH = "/v1/logs"
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")


class OtlpSink:
    """Posts batches as OTLP/HTTP protobuf to `/v1/logs`.

    Args:
        options: of kind `otlp`; a URL without a path gets `/v1/logs`.

    Raises:
        ConfigError: a file that it names cannot be read.
    """

    def __init__(self, options: ScoreSinkOptions) -> None:
        self._poster = Poster(options, content_type="application/x-protobuf", path=LOGS_PATH)

    def deliver(self, batch: Sequence[ScoreEvent]) -> int:
        """Posts the batch, and says how many records the collector rejected.

        Raises:
            DeliveryError: it was not taken.
        """
        answer = self._poster.post(build_request(batch).SerializeToString())
        try:
            response = ExportLogsServiceResponse.FromString(answer)
        except DecodeError:
            return 0  # taken all the same: the status says so
        return min(len(batch), int(response.partial_success.rejected_log_records))


def build_request(batch: Sequence[ScoreEvent]) -> ExportLogsServiceRequest:
    """The batch as one OTLP request: a resource for each app and environment, a record for each result."""
    by_place: dict[tuple[str, str, str], list[LogRecord]] = {}
    for event in batch:
        by_place.setdefault((event.app, event.environment, event.release), []).append(_build_record(event))
    return ExportLogsServiceRequest(
        resource_logs=[
            ResourceLogs(
                resource=Resource(
                    attributes=_list_attributes(
                        {
                            "service.name": app or "default",
                            "deployment.environment.name": environment or None,
                            "service.version": release or None,
                        }
                    )
                ),
                scope_logs=[ScopeLogs(scope=InstrumentationScope(name=SCOPE), log_records=records)],
            )
            for (app, environment, release), records in by_place.items()
        ]
    )


def _build_record(event: ScoreEvent) -> LogRecord:
    record = LogRecord(
        time_unix_nano=_count_nanoseconds(event.occurred_at),
        observed_time_unix_nano=_count_nanoseconds(event.scored_at),
        event_name=EVENT_NAME,
        severity_number=SeverityNumber.SEVERITY_NUMBER_INFO,
        attributes=_list_attributes(
            {
                "gen_ai.evaluation.name": event.scorer,
                "gen_ai.evaluation.score.value": event.raw,
                "gen_ai.evaluation.score.label": event.band,
                "gen_ai.evaluation.explanation": event.reason,
                "gen_ai.response.id": event.response_id,
                "error.type": event.cause if event.status == "error" else None,
                "ragsonde.trace.id": event.trace_id,
                "ragsonde.record.key": event.record_key or None,
                "ragsonde.result.id": event.result_id,
                "ragsonde.status": event.status,
                "ragsonde.cause": event.cause,
                "ragsonde.passed": event.passed,
                "ragsonde.value": event.value,
                "ragsonde.scorer.version": event.version,
                "ragsonde.judge.name": event.judge,
                "ragsonde.judge.fingerprint": event.fingerprint,
                "ragsonde.judge.epoch": event.judge_epoch,
                "ragsonde.judge.model": event.answered_model,
                "ragsonde.link": event.link,
            }
        ),
    )
    trace_id = event.trace_id.replace("-", "").lower()
    if _TRACE_ID.fullmatch(trace_id):
        record.trace_id = bytes.fromhex(trace_id)
        if event.span_id and _SPAN_ID.fullmatch(event.span_id.lower()):
            record.span_id = bytes.fromhex(event.span_id)
    return record


def _count_nanoseconds(moment: datetime) -> int:
    return max(0, round(moment.timestamp() * 1_000_000)) * 1_000


def _list_attributes(values: dict[str, Any]) -> list[KeyValue]:
    """Those that are known; what is not known is left out, never empty or 0."""
    return [
        KeyValue(key=key, value=_build_value(value)) for key, value in values.items() if value is not None
    ]


def _build_value(value: bool | float | str) -> AnyValue:  # noqa: FBT001 - one of some kinds
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(string_value=str(value).encode("utf-8", errors="replace").decode())
