import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize("value", [CHILD, [CHILD], [CHILD, {**CHILD, "id": "c"}], {"post": [CHILD]}])
def test_runs_without_the_root_of_their_trace_are_no_trace_of_their_own(value):
    refusal = find_refusal(decode_value, value)
    assert refusal.reason is ParkReason.INVALID_MESSAGE
    assert refusal.where.endswith("parent_run_id")
    assert str(refusal).endswith("send the whole run tree, or the list of all its runs, in one message")


def test_what_lacks_its_root_is_a_fault_beside_the_trace_that_has_one():
    lost = {**CHILD, "id": "y", "trace_id": "x", "parent_run_id": "x"}
    decoded = decode_value([lost, ROOT, CHILD])
    assert [record.document["id"] for record in decoded.records] == ["a"]
    assert [fault.where for fault in decoded.faults] == ["[0].parent_run_id"]


def test_a_tree_below_a_run_that_was_not_sent_is_read():
    tree = {**CHILD, "child_runs": [{**CHILD, "id": "c", "parent_run_id": "b"}]}
    for value in (tree, [tree]):
        assert [record.document for record in decode_value(value).records] == [tree]


PATCH = {
    "id": "a",
    "trace_id": "a",
    "dotted_order": "1a",
    "outputs": {"output": "x"},
    "end_time": "2026-11-29",
}


@pytest.mark.parametrize("named", [{}, {"run_type": "chain", "name": "rag"}, {"run_type": None}])
def test_a_patch_without_its_post_is_no_trace(named):
    patch = {**PATCH, **named}
    for value in (patch, [patch], {"patch": [patch]}, {"patch": [{**patch, "trace_id": None}]}):
        refusal = find_refusal(decode_value, value)
        assert refusal.reason is ParkReason.INVALID_MESSAGE
        assert str(refusal).endswith("send its post and patch in one message")


@pytest.mark.parametrize("bad", [None, 5, [], {}, {"run_type": "llm", "inputs": {}}])
@pytest.mark.parametrize("key", ["post", "patch"])
def test_what_is_no_run_in_a_batch_is_a_fault_beside_the_runs(bad, key):
    decoded = decode_value({"post": [ROOT, CHILD], key: [bad, ROOT, CHILD]})
    (record,) = decoded.records
    assert record.document == {**ROOT, "child_runs": [CHILD]}
    assert [(fault.reason, fault.where) for fault in decoded.faults] == [
        (ParkReason.INVALID_MESSAGE, f"{key}[0]")
    ]


def test_a_patch_of_another_run_is_a_fault_and_a_patch_of_one_that_came_is_merged():
    batch = {"post": [ROOT], "patch": [{"id": "z", "outputs": {}}, {"id": "a", "outputs": {"output": "x"}}]}
    decoded = decode_value(batch)
    assert [record.document for record in decoded.records] == [{**ROOT, "outputs": {"output": "x"}}]
    assert [fault.where for fault in decoded.faults] == ["patch[0]"]


@pytest.mark.parametrize(
    "value",
    [
        {"run_type": "chain"},
        {"post": [{"id": "a"}]},
        {"post": []},
        [{"id": "x"}, None],
        {"id": "a", "trace_id": "a"},
        {"id": "a", "trace_id": "a", "outputs": {}, "query": "q"},
        {"post": {"id": "a", "run_type": "x"}},
    ],
)
def test_other_objects_are_none(value):
    assert name_formats(value) == []


def flat(name, parent, **fields):
    return {"id": name, "parent_run_id": parent, "run_type": "chain", "inputs": {}, **fields}


def test_runs_without_a_trace_belong_to_the_trace_of_the_run_above():
    runs = [flat("c", "b"), flat("e", "d"), flat("b", "a"), flat("a", None, trace_id="t"), flat("d", None)]
    first, second = decode_value(runs).records
    assert [first.document["id"], *(run["id"] for run in first.document["child_runs"])] == ["a", "c", "b"]
    assert [second.document["id"], *(run["id"] for run in second.document["child_runs"])] == ["d", "e"]


def test_runs_that_are_each_others_parents_are_one_trace():
    assert len(decode_value([flat("c", "a"), flat("a", "b"), flat("b", "a")]).records) == 1


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_every_run_is_in_the_record_of_its_topmost_run(parents, order):
    """Run n's parent is a run before it, or itself for a root."""
    above = [min(parent, number) for number, parent in enumerate(parents)]
    tops = []
    for number, parent in enumerate(above):
        tops.append(number if parent == number else tops[parent])
    runs = [
        flat(str(number), None if parent == number else str(parent)) for number, parent in enumerate(above)
    ]
    order.shuffle(runs)
    found = {}
    for record in decode_value(runs).records:
        for run in (record.document, *record.document.get("child_runs", ())):
            found[int(run["id"])] = int(record.document["id"])
    assert found == dict(enumerate(tops))


def test_too_many_runs_are_refused():
    assert find_refusal(decode_value, [ROOT] * 4, spans=3).reason is ParkReason.OVER_LIMIT
    deep = {**ROOT, "child_runs": [{**CHILD, "child_runs": [CHILD, CHILD, CHILD]}]}
    refusal = find_refusal(decode_value, deep, spans=3)
    assert (refusal.reason, refusal.where) == (ParkReason.OVER_LIMIT, "child_runs")
