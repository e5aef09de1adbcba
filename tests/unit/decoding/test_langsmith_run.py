import pytest

from builders.envelopes import find_refusal
from builders.foreign_documents import decode_value, name_formats
from ragsonde_schemas.errors import ParkReason

ROOT = {"id": "a", "trace_id": "a", "parent_run_id": None, "run_type": "chain", "inputs": {"input": "q"}}
CHILD = {"id": "b", "trace_id": "a", "parent_run_id": "a", "run_type": "llm", "inputs": {}}


def test_a_tree_stays_as_it_came():
    tree = {**ROOT, "child_runs": [CHILD]}
    (record,) = decode_value(tree).records
    assert (record.format, record.document) == ("langsmith_run", tree)


@pytest.mark.parametrize(
    "value", [[CHILD, ROOT], {"post": [ROOT, CHILD]}, {"post": [CHILD], "patch": [ROOT]}]
)
def test_flat_runs_become_their_roots_tree(value):
    (record,) = decode_value(value).records
    assert record.document == {**ROOT, "child_runs": [CHILD]}


def test_a_patch_says_what_the_post_did_not():
    batch = {
        "post": [{**ROOT, "outputs": None, "tags": ["prod"]}],
        "patch": [{"id": "a", "trace_id": "a", "outputs": {"output": "x"}, "inputs": {}, "tags": None}],
    }
    (record,) = decode_value(batch).records
    assert record.document == {**ROOT, "outputs": {"output": "x"}, "tags": ["prod"]}


def test_each_trace_is_a_record_with_the_warnings_of_its_own_runs():
    other = {**ROOT, "id": "c", "trace_id": "c"}
    records = decode_value([ROOT, other, CHILD], mended=("[2].inputs", "[1].name")).records
    assert [(record.document["id"], record.warnings[0].split(":")[0]) for record in records] == [
        ("a", "[2].inputs"),
        ("c", "[1].name"),
    ]


def test_where_the_root_is_missing_the_first_run_in_order_stands_in():
    late = {**CHILD, "id": "c", "dotted_order": "20261129T221505000000Zc"}
    early = {**CHILD, "dotted_order": "20261129T221504000000Zb"}
    (record,) = decode_value([late, early]).records
    assert record.document == {**early, "child_runs": [late]}


@pytest.mark.parametrize(
    "value",
    [
        {"run_type": "chain"},
        {"post": [{"id": "a"}]},
        {"post": []},
        [ROOT, {"id": "x"}],
        {"post": {"id": "a", "run_type": "x"}},
    ],
)
def test_other_objects_are_none(value):
    assert name_formats(value) == []


def test_too_many_runs_are_refused():
    assert find_refusal(decode_value, [ROOT] * 4, spans=3).reason is ParkReason.OVER_LIMIT
    deep = {**ROOT, "child_runs": [{**CHILD, "child_runs": [CHILD, CHILD, CHILD]}]}
    refusal = find_refusal(decode_value, deep, spans=3)
    assert (refusal.reason, refusal.where) == (ParkReason.OVER_LIMIT, "child_runs")
