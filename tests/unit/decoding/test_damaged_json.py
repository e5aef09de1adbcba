"""One part of a message that no parser can keep costs its neighbours nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import wrap
from builders.spans import TRACE_ID, make_whole
from ragsonde.decoding.damaged_json import Unreadable, read_damaged_json
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde.extraction.nesting import cut_too_deep, find_too_deep
from ragsonde.extraction.span_findings import find_in_spans
from ragsonde_schemas.errors import DecodeError, ParkReason

OTHER_TRACE = "0" * 31 + "1"
DAMAGE = {
    "number": ("1e999", "found 1e999, expected a number that a double can hold"),
    "word": ("NaN", "found NaN, expected a number"),
    "digits": ("9" * 400, "found a number of 400 characters"),
    "repeated key": ('{"k": 1, "k": 2}', "the key occurs twice"),
    "depth": ("[" * 70 + "]" * 70, "nested deeper than 64 levels"),
}


def kvlist(levels):
    inner = '{"stringValue":"x"}'
    for _ in range(levels):
        inner = '{"kvlistValue":{"values":[{"key":"k","value":' + inner + "}]}}"
    return inner


def span(number, *, trace_id=TRACE_ID, attributes='{"good": "x"}', more=""):
    return (
        f'{{"traceId": "{trace_id}", "spanId": "{number:016x}", "name": "s{number}", {more}'
        f'"attributes": {attributes}}}'
    )


def export(*spans):
    return f'{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{", ".join(spans)}]}}]}}]}}'


def read(text):
    return decode(wrap(text.encode()))


def refuse(text):
    with pytest.raises(DecodeError) as caught:
        read(text)
    return caught.value


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize(
    "write", ['{{"good": "x", "bad": {}}}', '{{"good": "x", "bad": {{"doubleValue": {}}}}}']
)
def test_an_attribute_that_cannot_be_kept_is_left_out_and_told_on_the_record(name, write):
    text, found = DAMAGE[name]
    decoded = read(export(span(1), span(2, attributes=write.format(text))))
    first, second = decoded.spans
    assert first.attributes == {"good": "x"}
    assert second.attributes.keys() == {"good", "ragsonde.warnings"}
    assert decoded.faults == ()
    (findings,) = find_in_spans(make_whole(*decoded.spans), is_known=True)
    (warning,) = findings.warnings
    assert warning.startswith("resourceSpans[0].scopeSpans[0].spans[1].attributes.bad")
    assert found in warning
    assert warning.endswith("; skipped")


@pytest.mark.parametrize("levels", [15, 64, 1000])
def test_a_map_of_many_levels_in_an_attribute_costs_no_other_trace(levels):
    attributes = (
        f'[{{"key": "deep", "value": {kvlist(levels)}}}, {{"key": "good", "value": {{"stringValue": "x"}}}}]'
    )
    decoded = read(export(span(1, attributes=attributes), span(2, trace_id=OTHER_TRACE)))
    assert [one.attributes["good"] for one in decoded.spans] == ["x", "x"]
    assert "nested deeper than 64 levels" in decoded.spans[0].attributes["ragsonde.warnings"][0]
    assert "deep" not in decoded.spans[0].attributes


@pytest.mark.parametrize("name", DAMAGE)
def test_a_span_that_cannot_be_kept_is_a_fault_beside_the_others(name):
    text, _ = DAMAGE[name]
    decoded = read(export(span(1), span(2, more=f'"startTimeUnixNano": {text}, '), span(3)))
    assert [one.name for one in decoded.spans] == ["s1", "s3"]
    (fault,) = decoded.faults
    assert fault.where == "resourceSpans[0].scopeSpans[0].spans[1].startTimeUnixNano"


def test_a_span_with_a_key_twice_is_a_fault_beside_the_others():
    decoded = read(export(span(1), span(2, more='"name": "again", ')))
    assert [one.name for one in decoded.spans] == ["s1"]
    assert decoded.faults[0].where == "resourceSpans[0].scopeSpans[0].spans[1]"


def test_where_no_span_is_left_the_message_is_refused_for_its_text():
    error = refuse(export(span(1, more='"kind": 1e999, ')))
    assert error.reason is ParkReason.INVALID_JSON
    assert "found 1e999 at column " in str(error)


@pytest.mark.parametrize("name", DAMAGE)
def test_an_item_that_cannot_be_kept_is_a_fault_beside_the_others(name):
    text, found = DAMAGE[name]
    items = [
        '{"trace_id": "t1"}',
        f'{{"trace_id": "t2", "metadata": {{"a": {text}}}}}',
        '{"trace_id": "t3"}',
        text,
    ]
    decoded = read(f"[{', '.join(items)}]")
    assert [record.message.trace_id for record in decoded.records] == ["t1", "t3"]
    assert [fault.reason for fault in decoded.faults] == [ParkReason.INVALID_JSON] * 2
    assert decoded.faults[0].where.startswith("[1].metadata.a")
    assert decoded.faults[1].where.startswith("[3]")
    assert found in str(decoded.faults[0])


@pytest.mark.parametrize("name", DAMAGE)
def test_a_line_that_cannot_be_kept_is_a_fault_beside_the_others(name):
    text, _ = DAMAGE[name]
    decoded = read(f'{{"trace_id": "t1"}}\n{{"trace_id": "t2", "metadata": {text}}}\n{export(span(1))}\n')
    assert [record.message.trace_id for record in decoded.records] == ["t1"]
    assert [one.name for one in decoded.spans] == ["s1"]
    (fault,) = decoded.faults
    assert fault.where.startswith("line 2")
    assert str(fault).count("line") == 1


@pytest.mark.parametrize("name", DAMAGE)
def test_a_message_of_one_record_is_refused_for_its_damage(name):
    text, _ = DAMAGE[name]
    for body in (f'{{"trace_id": "t", "metadata": {text}}}', f'{{"unknown": {text}}}', f"[{text}]"):
        assert refuse(body).reason is ParkReason.INVALID_JSON


def run(name, *, more=""):
    return (
        f'{{"id": "{name}", "trace_id": "{name[0]}", "run_type": "chain", "inputs": {{"input": "q"}}{more}}}'
    )


@pytest.mark.parametrize("write", ["[{}]", '{{"post": [{}]}}'])
def test_of_flat_runs_the_trace_with_the_damage_is_a_fault(write):
    runs = (run("a1"), run("b1"), run("a2", more=', "extra": {"a": 1e999}'), run("b2"))
    decoded = read(write.format(", ".join(runs)))
    assert [record.document["id"] for record in decoded.records] == ["b1"]
    (fault,) = decoded.faults
    assert fault.where.endswith("[2].extra.a")


def test_of_several_datadog_spans_the_damaged_one_is_a_fault():
    spans = [
        f'{{"trace_id": "t", "span_id": "{number}", "meta": {{"input": {value}}}}}'
        for number, value in ((1, "1"), (2, "1e999"), (3, "3"))
    ]
    decoded = read(f'{{"ml_app": "a", "spans": [{", ".join(spans)}]}}')
    assert [one.span_id for one in decoded.spans] == ["1", "3"]
    assert [fault.where for fault in decoded.faults] == ["spans[1].meta.input"]
    assert refuse(f'{{"ml_app": "a", "x": 1e999, "spans": [{spans[0]}]}}').reason is ParkReason.INVALID_JSON


def test_texts_beside_the_damage_are_mended():
    document = read_damaged_json(rb'{"a": "\u0000", "b": 1e999}', nesting_levels=4)
    assert document.value["a"] == "\ufffd"
    assert isinstance(document.value["b"], Unreadable)
    assert document.mended == ("a",)


@pytest.mark.parametrize("text", ["[[[[[", '{"a": [[[[[[1]]]]]', "[1,]", "", '{"a": 1e999'])
def test_what_is_no_json_is_refused_all_the_same(text):
    with pytest.raises(DecodeError) as caught:
        read_damaged_json(text.encode(), nesting_levels=3)
    assert caught.value.reason is ParkReason.INVALID_JSON


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.sampled_from('[]{}",:\\x'), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.sampled_from('[]{"ab'), max_size=3), inner, max_size=3)
    ),
    max_leaves=15,
)


def prune(value, levels):
    if isinstance(value, list | dict) and levels == 0:
        return "cut"
    if isinstance(value, list):
        return [prune(item, levels - 1) for item in value]
    if isinstance(value, dict):
        return {key: prune(item, levels - 1) for key, item in value.items()}
    return value


@given(JSON_VALUES, st.integers(0, 4))
def test_the_text_is_cut_where_it_is_nested_too_deep(value, limit):
    cut = cut_too_deep(json.dumps(value), limit=limit, mark='"cut"')
    assert json.loads(cut) == prune(value, limit)
    assert find_too_deep(cut, limit=limit) is None


def test_ten_thousand_damaged_spans_are_read():
    limits = DecodingLimits(body_bytes=8_000_000)
    text = export(*(span(number, attributes='{"a": 1e999}') for number in range(1, 10_001)))
    decoded = decode(wrap(text.encode()), limits=limits)
    assert len(decoded.spans) == 10_000
    (findings,) = find_in_spans(make_whole(*decoded.spans), is_known=True)
    assert (len(findings.warnings), findings.warnings[-1]) == (21, "spans: 9980 more warnings")
