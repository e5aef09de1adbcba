"""What each format costs from bytes to traces, beside the plainest parser of the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Figure, time_call
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from fakes.traces import make_envelope
from ragsonde.assembly.records import gather_records
from ragsonde.decoding.table import decode
from ragsonde.extraction.table import build_trace, find_fields
from ragsonde_schemas.decoded import Receipt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde_schemas.decoded import Decoded, Record

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
TIMES = 100
MOST_DECODE_MILLISECONDS = 0.5
MOST_TIMES_JSON = 20.0
MOST_TRACE_MILLISECONDS = 15.0
"""What the lexical judge may take from queue to row: reading a message must stay far below it."""


def measure_formats() -> list[Figure]:
    """Two lines for each sample: decoding, and from the decoded message to the traces."""
    names = [path.name for path in SAMPLES.iterdir() if path.suffix in {".json", ".pb"}]
    return [
        figure
        for name in sorted(names)
        if name != "MANIFEST.json" and not name.endswith(".expected.json") and "split" not in name
        for figure in _measure_one(name)
    ]


def _measure_one(name: str) -> Iterator[Figure]:
    body = (SAMPLES / name).read_bytes()
    envelope = make_envelope(body)
    decoded = decode(envelope)
    decoding = time_call(lambda: decode(envelope), times=TIMES)
    is_protobuf = name.endswith(".pb")
    parser = "ParseFromString" if is_protobuf else "json.loads"
    plain = time_call(lambda: _parse(body) if is_protobuf else json.loads(body), times=TIMES)
    ratio = decoding / plain
    spans = f", {len(decoded.spans)} spans" if decoded.spans else ""
    found = f"{decoding:.3f} ms CPU = {ratio:.1f} x {parser}"
    if is_protobuf:
        per_eight = decoding / len(decoded.spans) * 8
        is_met = per_eight <= MOST_DECODE_MILLISECONDS
        yield Figure(f"decode {name}{spans}", found, "<= 0.5 ms for 8 spans", is_met)
    else:
        yield Figure(f"decode {name}{spans}", found, f"<= {MOST_TIMES_JSON:g} x", ratio <= MOST_TIMES_JSON)
    receipt = Receipt(received_at=envelope.received_at)
    reading = time_call(lambda: _read(decoded, receipt=receipt), times=TIMES)
    traces = len(_read(decoded, receipt=receipt))
    bar = f"<= {MOST_TRACE_MILLISECONDS:g} ms with decoding"
    is_met = decoding + reading <= MOST_TRACE_MILLISECONDS
    yield Figure(
        f"  extract, {traces} trace{'' if traces == 1 else 's'}", f"{reading:.3f} ms CPU", bar, is_met
    )


def _parse(body: bytes) -> ExportTraceServiceRequest:
    export = ExportTraceServiceRequest()
    export.ParseFromString(body)
    return export


def _read(decoded: Decoded, *, receipt: Receipt) -> list[object]:
    records: tuple[Record, ...] = decoded.records
    if decoded.spans:
        records = (*records, *gather_records(decoded.spans, format_name=decoded.format))
    return [
        build_trace(found, receipt=receipt, retention_days=36_500)
        for record in records
        for found in find_fields(record)
    ]
