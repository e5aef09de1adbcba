import math
from datetime import UTC, datetime

import pytest

from builders.envelopes import wrap, wrap_json
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.message import CONTENT_TYPE

MINIMAL = {"trace_id": "t-1", "query": "How long?"}


def read(**fields):
    (message,) = decode(wrap_json({**MINIMAL, **fields})).records
    return message


def refuse(reason, **fields):
    with pytest.raises(DecodeError) as caught:
        decode(wrap_json({**MINIMAL, **fields}))
    assert caught.value.reason is reason
    return caught.value


def test_every_field_of_the_contract_is_read():
    fields = {
        "schema_version": "1",
        "trace_id": "t-1",
        "event_id": "e-1",
        "app": "shop",
        "environment": "production",
        "release": "2.1",
        "variant": "b",
        "session_id": "s-1",
        "user_id": "u-1",
        "occurred_at": "2026-11-29T10:00:00Z",
        "query": "How long?",
        "messages": [{"role": "user", "content": "How long?"}],
        "retrieval_query": "How long does a refund take?",
        "contexts": [
            {"content": "c", "id": "1", "score": 0.5, "source_uri": "faq.md", "metadata": {"page": 1}},
            "plain",
        ],
        "answer": "14 days.",
        "reference": {"answer": "14 days", "contexts": ["c"], "context_ids": ["1"]},
        "model": "m",
        "usage": {"total_tokens": 3},
        "latency_ms": 12,
        "cost_usd": 0.1,
        "tags": ["a"],
        "metadata": {"k": [1, None]},
        "evaluation": {"scorers": ["context_position"], "sample_rate": 0.5},
        "sampling_probability": 0.25,
    }
    decoded = decode(wrap_json(fields))
    assert decoded.format == "native"
    (message,) = decoded.records
    assert (message.extra, message.warnings) == ({}, ())
    dumped = message.message.model_dump(mode="json", exclude_unset=True)
    assert fields == dumped


@pytest.mark.parametrize("contexts", [None, [], "one text", ["", "  "], [{"content": "x"}, "y"]])
def test_contexts_may_be_unknown_empty_one_text_or_a_list(contexts):
    dumped = read(contexts=contexts).message.model_dump(mode="json", exclude_unset=True)
    assert contexts == dumped["contexts"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"contexts": 5}, "contexts: found number 5, expected a list or a string"),
        ({"contexts": [1, 2]}, "contexts[0]: found number 1, expected an object or a string; contexts[1]: "),
        ({"contexts": {"content": "x"}}, "contexts: found an object, expected a list or a string"),
        ({"contexts": [None]}, "contexts[0]: found null, expected an object or a string"),
        ({"contexts": ["x", "y", {"content": 5}]}, "contexts[2].content: found number 5, expected a string"),
        (
            {"contexts": ["x", {"score": 1}]},
            "contexts[1]: found neither text nor id, expected an object with `content` or at least `id`",
        ),
        ({"contexts": [{"content": None, "id": ""}]}, "contexts[0]: found neither text nor id, expected "),
        ({"contexts": [{"id": "1", "text": "x"}]}, "contexts[0]: found `text`, expected an object with `con"),
        ({"contexts": [{"content": "x", "score": "0.9"}]}, "contexts[0].score: found a string of 3 charact"),
        ({"contexts": [{"content": "x", "score": True}]}, "contexts[0].score: found true, expected a number"),
        (
            {"contexts": [{"content": "x", "metadata": []}]},
            "contexts[0].metadata: found a list of 0, expected",
        ),
        ({"query": 5}, "query: found number 5, expected a string"),
        ({"query": ["x"]}, "query: found a list of 1, expected a string"),
        ({"messages": [{"role": "user"}]}, "messages[0].content: found nothing, expected a string"),
        ({"messages": {}}, "messages: found an object, expected a list"),
        ({"reference": 5}, "reference: found number 5, expected an object or a string"),
        ({"reference": {"answer": 5}}, "reference.answer: found number 5, expected a string"),
        ({"latency_ms": True}, "latency_ms: found true, expected a number"),
        ({"latency_ms": "12"}, "latency_ms: found a string of 2 characters, expected a number"),
        ({"latency_ms": -1}, "latency_ms: found number -1, expected a number of at least 0"),
        (
            {"sampling_probability": 0},
            "sampling_probability: found number 0, expected a number of more than 0",
        ),
        ({"sampling_probability": 2}, "sampling_probability: found number 2, expected a number of at most 1"),
        (
            {"evaluation": {"sample_rate": 1.5}},
            "evaluation.sample_rate: found number 1.5, expected a number of",
        ),
        ({"evaluation": []}, "evaluation: found a list of 0, expected an object"),
        ({"tags": ["a", 1]}, "tags[1]: found number 1, expected a string"),
        ({"usage": "x"}, "usage: found a string of 1 characters, expected an object"),
        ({"metadata": [1]}, "metadata: found a list of 1, expected an object"),
        ({"app": False}, "app: found false, expected a string"),
        (
            {"occurred_at": "yesterday"},
            "occurred_at: found a string of 9 characters, expected an ISO 8601 time",
        ),
        ({"occurred_at": 1700000000}, "occurred_at: found number 1700000000, expected an ISO 8601 time"),
        ({"occurred_at": "1700000000"}, "occurred_at: found a string of 10 characters, expected an ISO 8601"),
        ({"occurred_at": True}, "occurred_at: found true, expected an ISO 8601 time"),
        ({"occurred_at": "2026-02-30T00:00:00Z"}, "occurred_at: found a string of 20 characters, expected"),
    ],
)
def test_a_wrong_type_names_path_found_and_expected(fields, message):
    assert message in str(refuse(ParkReason.INVALID_MESSAGE, **fields))


def test_one_wrong_value_is_one_problem():
    error = refuse(ParkReason.INVALID_MESSAGE, contexts=["x", {"content": 5}])
    assert str(error) == "contexts[1].content: found number 5, expected a string"


def test_several_problems_are_named_up_to_five():
    error = refuse(ParkReason.INVALID_MESSAGE, query=1, answer=2, model=3, app=4, tags=5, user_id=6)
    assert error.where == "app"
    assert str(error).count("found number") == 5
    assert str(error).endswith("; and 1 more")


def test_no_text_of_the_message_is_quoted():
    assert "secret" not in str(
        refuse(ParkReason.INVALID_MESSAGE, latency_ms="secret", contexts=[{"content": 5, "id": "secret"}])
    )


@pytest.mark.parametrize(
    "trace_id", ["", " ", "x" * 129, "x" * 500, "a\nb", "a\x7f", "a\0b", "\ud800", 5, None, ["a"]]
)
def test_a_trace_id_is_1_to_128_printable_characters(trace_id):
    error = refuse(ParkReason.BAD_TRACE_ID, trace_id=trace_id)
    assert error.where == "trace_id"
    assert "expected 1 to 128 printable characters" in str(error)


def test_a_missing_trace_id_is_a_bad_one():
    with pytest.raises(DecodeError, match=r"trace_id: found nothing, expected 1 to 128") as caught:
        decode(wrap_json({"query": "x"}))
    assert caught.value.reason is ParkReason.BAD_TRACE_ID


@pytest.mark.parametrize("trace_id", ["a", "x" * 128, "käse/1 2", "日本"])
def test_other_trace_ids_are_kept(trace_id):
    assert trace_id == read(trace_id=trace_id).message.trace_id


@pytest.mark.parametrize("version", ["2", "1.0", 1, True, "v" * 500])
def test_another_schema_version_is_refused(version):
    error = refuse(ParkReason.UNSUPPORTED_SCHEMA_VERSION, schema_version=version)
    assert error.where == "schema_version"
    assert 'expected "1"' in str(error)
    assert len(str(error)) < 200


def test_no_schema_version_is_version_1():
    assert read(schema_version=None).message.schema_version == "1"
    assert read().message.schema_version == "1"


def test_nul_and_lone_surrogates_are_mended_with_a_warning_that_names_the_path():
    message = read(query="a\0b", contexts=["x", {"content": "\ud800", "metadata": {"k": "\0"}}], odd="\0")
    assert message.message.query == "a\N{REPLACEMENT CHARACTER}b"
    assert message.message.contexts[1].content == "\N{REPLACEMENT CHARACTER}"
    assert message.extra == {"odd": "\N{REPLACEMENT CHARACTER}"}
    assert [warning.split(":")[0] for warning in message.warnings] == [
        "query",
        "contexts[1].content",
        "contexts[1].metadata.k",
        "odd",
        "unknown key odd",
    ]


def test_of_many_mended_texts_twenty_are_named():
    warnings = read(tags=["\0"] * 50).warnings
    assert len(warnings) == 21
    assert warnings[-1] == "message: 30 more texts were mended"


def test_a_rank_inside_a_context_is_ignored_with_a_warning():
    message = read(contexts=["a", {"content": "b", "rank": 9}, {"content": "c", "rank": "x", "page": 2}])
    assert message.warnings == ("contexts[1].rank (and 1 more): ignored, the order of the list is the rank",)
    assert message.extra == {"contexts[2].page": 2}
    assert [getattr(context, "content", context) for context in message.message.contexts] == ["a", "b", "c"]


def test_unknown_keys_are_kept_under_their_paths():
    message = read(
        colour="red",
        contexts=[{"content": "a", "page": 3}],
        reference={"answer": "x", "by": "ann"},
        messages=[{"role": "user", "content": "q", "name": None}],
        evaluation={"why": 1},
    )
    assert message.extra == {
        "colour": "red",
        "contexts[0].page": 3,
        "reference.by": "ann",
        "messages[0].name": None,
        "evaluation.why": 1,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-29T10:00:00Z", datetime(2026, 11, 29, 10, tzinfo=UTC)),
        ("2026-11-29T12:00:00.123456789+02:00", datetime(2026, 11, 29, 10, 0, 0, 123456, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-12:00", None),
    ],
)
def test_times_with_a_zone_are_read(text, expected):
    occurred_at = read(occurred_at=text).message.occurred_at
    assert occurred_at.tzinfo is not None
    assert expected is None or expected == occurred_at


def test_a_time_without_zone_is_read_with_a_warning():
    message = read(occurred_at="2026-11-29T10:00:00")
    assert message.warnings == ("occurred_at: no time zone, read as UTC",)


@pytest.mark.parametrize(
    "fields",
    [
        {"contexts": ["x"] * 1001},
        {"tags": ["x"] * 10_001},
        {"messages": [{"role": "user", "content": "x"}] * 10_001},
        {"reference": {"context_ids": ["x"] * 10_001}},
    ],
)
def test_hostile_numbers_of_items_are_refused(fields):
    assert "expected at most" in str(refuse(ParkReason.OVER_LIMIT, **fields))


def test_limits_can_be_set():
    with pytest.raises(DecodeError, match="contexts: found a list of 3, expected at most 2"):
        decode(wrap_json({**MINIMAL, "contexts": ["a", "b", "c"]}), limits=DecodingLimits(contexts=2))


@pytest.mark.parametrize("body", ["[]", "[5, null]", '"x"', "5", "null", "true"])
def test_a_native_content_type_around_anything_but_objects_is_refused(body):
    with pytest.raises(DecodeError, match="expected one JSON object with the fields") as caught:
        decode(wrap(body.encode(), content_type=CONTENT_TYPE))
    assert caught.value.reason is ParkReason.INVALID_MESSAGE


def test_integers_are_numbers():
    message = read(contexts=[{"content": "x", "score": 1}], cost_usd=0, latency_ms=10**300).message
    assert message.contexts[0].score == 1.0
    assert math.isclose(message.latency_ms, 1e300)


@pytest.mark.parametrize(
    ("fields", "warning"),
    [
        ({"question": "q"}, "unknown key question: kept, not used"),
        ({"colour": "red"}, "unknown key colour: kept, not used"),
        (
            {"enviroment": "x", "docs": []},
            "unknown keys enviroment, docs: kept, not used; did you mean environment, contexts?",
        ),
        (
            {"Response": "x", "metadata": {"question": 1}},
            "unknown key Response: kept, not used; did you mean answer?",
        ),
        ({"answer": "x", "response": "y"}, "unknown key response: kept, not used"),
        ({"x" * 500: 1}, f"unknown key {'x' * 40}…: kept, not used"),
        (
            {f"k{number}": 1 for number in range(9)},
            "unknown keys k0, k1, k2, k3, k4 and 4 more: kept, not used",
        ),
    ],
)
def test_unknown_keys_are_told_with_the_field_that_may_be_meant(fields, warning):
    assert read(**fields).warnings == (warning,)


def test_a_question_under_another_name_is_told_as_such():
    (message,) = decode(wrap_json({"trace_id": "t-1", "question": "q"})).records
    assert message.warnings == ("unknown key question: kept, not used; did you mean query?",)


def test_unknown_keys_of_metadata_and_of_contexts_are_no_cause_for_a_warning():
    assert read(metadata={"question": 1}, contexts=[{"content": "a", "page": 3}]).warnings == ()
