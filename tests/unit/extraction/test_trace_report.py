import json

from builders.envelopes import RECEIPT, wrap_json
from ragsonde.decoding.table import decode
from ragsonde.extraction.report import describe_trace
from ragsonde.extraction.table import build_trace, find_fields


def report(**fields):
    (record,) = decode(wrap_json({"trace_id": "t-1", **fields})).records
    (found,) = find_fields(record)
    return describe_trace(build_trace(found, receipt=RECEIPT, retention_days=90))


def test_the_object_holds_what_is_judged():
    described = report(
        query="How long?",
        answer="14 days.",
        reference={"answer": "14 days"},
        app="shop",
        environment="production",
        release="2",
        session_id="s",
        user_id="u",
        model="m",
        occurred_at="2026-11-30T00:00:00Z",
        contexts=[{"content": "It takes 14 days. Free.", "id": "d", "score": 0.5}],
    )
    assert described == {
        "trace_id": "t-1",
        "record_key": "",
        "query": "How long?",
        "retrieval_query": None,
        "turns": [],
        "answer": "14 days.",
        "reference": "14 days",
        "app": "shop",
        "environment": "production",
        "release": "2",
        "variant": None,
        "session_id": "s",
        "user_id": "u",
        "model": "m",
        "usage": {},
        "latency_ms": None,
        "cost_usd": None,
        "occurred_at": "2026-11-30T00:00:00+00:00",
        "tags": [],
        "metadata": {},
        "contexts": [
            {
                "number": "1",
                "rank": 0,
                "id": "d",
                "score": 0.5,
                "content": "It takes 14 days. Free.",
                "source_uri": None,
                "metadata": {},
                "origin": "producer",
                "retrieval_step": None,
                "sentences": [
                    {"number": "1.1", "text": "It takes 14 days."},
                    {"number": "1.2", "text": "Free."},
                ],
            }
        ],
        "extraction": {
            "format": "native",
            "fields": {
                **{
                    name: {"rule": f"native:{name}", "confidence": "exact"}
                    for name in (
                        "query",
                        "answer",
                        "reference",
                        "app",
                        "environment",
                        "release",
                        "session_id",
                    )
                },
                "user_id": {"rule": "native:user_id", "confidence": "exact"},
                "model": {"rule": "native:model", "confidence": "exact"},
                "contexts": {"rule": "native:contexts", "confidence": "exact"},
                "occurred_at": {"rule": "occurrence:producer", "confidence": "exact"},
            },
            "warnings": [],
            "gap": None,
            "failure": None,
            "re_retrieved": False,
            "suspected_injection": [],
        },
    }
    json.dumps(described, allow_nan=False)


def test_what_is_unknown_is_null_and_an_empty_retrieval_is_a_list():
    described = report()
    unknown = {
        "query",
        "answer",
        "reference",
        "app",
        "environment",
        "release",
        "session_id",
        "user_id",
        "model",
    }
    assert all(described[name] is None for name in unknown | {"contexts"})
    assert report(contexts=[])["contexts"] == []
    assert report(reference={"contexts": ["x"]})["reference"] is None
