import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.spans import make_span
from ragsonde.assembly.records import gather_records, is_whole

ANSWERED = {"output.value": "14 days."}


def retriever(span_id, parent=None, **options):
    return make_span(span_id, parent, kind="RETRIEVER", **options)


def model(span_id, parent=None, **options):
    return make_span(span_id, parent, kind="LLM", **options)


def chain(span_id, parent=None, **options):
    return make_span(span_id, parent, kind="CHAIN", **options)


ROOT, RETRIEVER, MODEL = chain(1), retriever(2, 1), model(3, 1)


def gather(*spans):
    """Of each record its key, its root and all of its spans, by number."""
    return [
        (
            int(record.record_key or "0", 16),
            int(record.root.span_id, 16),
            [int(span.span_id, 16) for span in record.spans],
        )
        for record in gather_records(spans, format_name="otlp_json")
    ]


def test_root_and_all_below_it_are_one_record_in_any_order():
    assert gather(MODEL, RETRIEVER, ROOT) == gather(ROOT, RETRIEVER, MODEL) == [(0, 1, [1, 2, 3])]


def test_no_span_is_no_record():
    assert gather() == []


def test_a_span_given_twice_is_one():
    assert gather(ROOT, RETRIEVER, RETRIEVER, ROOT) == [(0, 1, [1, 2])]


def test_format_and_warnings_are_those_of_every_record():
    for record in gather_records([model(1), model(2)], format_name="otlp_json", warnings=("mended",)):
        assert (record.format, record.warnings) == ("otlp_json", ("mended",))


def test_each_root_with_a_generation_or_an_answer_is_a_record_of_its_own():
    first = [chain(1), model(2, 1)]
    second = [chain(5, attributes=ANSWERED), retriever(6, 5)]
    assert gather(*second, *first) == [(0, 1, [1, 2]), (5, 5, [5, 6])]


def test_the_first_turn_is_the_one_that_started_first():
    assert gather(model(9, start=1), model(3, start=2)) == [(0, 9, [9]), (3, 3, [3])]


def test_a_retrieval_under_a_root_of_its_own_joins_the_turn_that_follows():
    assert gather(retriever(1), model(2), retriever(3), model(4)) == [(0, 2, [1, 2]), (4, 4, [3, 4])]


def test_a_retrieval_that_starts_with_its_turn_joins_it():
    assert gather(retriever(1, start=5), model(2, start=5)) == [(0, 2, [1, 2])]


def test_a_part_after_the_last_turn_joins_that():
    assert gather(model(1), model(2), retriever(3)) == [(0, 1, [1]), (2, 2, [2, 3])]


def test_roots_without_any_turn_are_one_record():
    assert gather(retriever(2), make_span(1), retriever(3)) == [(0, 1, [1, 2, 3])]


def test_a_span_whose_parent_never_came_belongs_to_the_root_within_whose_time_it_started():
    roots = [model(1, start=0, end=10), model(2, start=20, end=30)]
    orphan = [retriever(3, 99, start=25), make_span(4, 3, start=26)]
    assert gather(*orphan, *roots) == [(0, 1, [1]), (2, 2, [2, 3, 4])]


TURNS = [model(1, start=10, end=20), model(2, start=30, end=40)]


@pytest.mark.parametrize(
    ("start", "owner"), [(5, 1), (10, 1), (19, 1), (20, 2), (25, 2), (30, 2), (39, 2), (40, 2), (90, 2)]
)
@pytest.mark.parametrize("parent", [99, None], ids=["without its parent", "under a root of its own"])
def test_a_part_belongs_to_the_turn_within_whose_time_it_started_else_the_next_else_the_last(
    start, owner, parent
):
    assert [(root, 3 in spans) for _, root, spans in gather(retriever(3, parent, start=start), *TURNS)] == [
        (1, owner == 1),
        (2, owner == 2),
    ]


@pytest.mark.parametrize("start", [5, 15, 25, 40])
def test_a_generation_whose_parent_never_came_is_a_part_until_the_last_root_has_ended(start):
    assert [root for _, root, _ in gather(model(3, 99, start=start), *TURNS)] == [1, 2]


def test_a_generation_whose_parent_never_came_is_a_turn_after_every_roots_end():
    late = [retriever(5, 99, start=41), model(4, 99, start=50), retriever(6, 99, start=60)]
    assert gather(*late, *TURNS) == [(0, 1, [1]), (2, 2, [2]), (5, 5, [5, 4, 6])]


def test_turns_below_different_parents_that_never_came_are_told_apart_after_every_roots_end():
    assert gather(model(4, 98, start=50), model(5, 99, start=60), *TURNS)[2:] == [(4, 4, [4]), (5, 5, [5])]


def test_a_root_that_says_nothing_is_the_root_of_the_turn_that_lost_its_parent():
    assert gather(chain(1, start=0, end=5), model(2, 99, start=9)) == [(0, 1, [1, 2])]


def test_a_root_whose_end_is_before_its_start_holds_the_moment_of_its_start():
    roots = [model(1, start=10, end=0), model(2, start=30)]
    assert gather(retriever(3, 99, start=10), retriever(4, 99, start=11), *roots) == [
        (0, 1, [1, 3]),
        (2, 2, [4, 2]),
    ]


def test_of_roots_at_the_same_time_the_first_holds_what_started_within_both():
    roots = [model(1, start=0, end=30), model(2, start=5, end=30)]
    assert gather(retriever(3, 99, start=15), *roots) == [(0, 1, [1, 3]), (2, 2, [2])]


def test_a_remote_parent_that_is_never_delivered_leaves_the_local_root():
    assert gather(chain(1, 99), retriever(2, 1), model(3, 1)) == [(0, 1, [1, 2, 3])]


def test_local_roots_below_the_same_remote_parent_belong_together_under_the_earliest():
    assert gather(model(3, 99), retriever(2, 99), make_span(4, 3)) == [(0, 2, [2, 3, 4])]


def test_a_child_that_claims_to_start_before_its_local_root_does_not_take_its_place():
    assert gather(chain(5, 99, start=5), model(6, 5, start=1)) == [(0, 5, [6, 5])]


def test_local_roots_below_different_remote_parents_are_turns_of_their_own():
    assert gather(model(1, 98), model(2, 99)) == [(0, 1, [1]), (2, 2, [2])]


def test_spans_in_a_circle_are_a_record_under_the_earliest():
    circle = [model(3, 2), retriever(2, 4), chain(4, 3), make_span(1, 3)]
    assert gather(*circle) == gather(*reversed(circle)) == [(0, 2, [1, 2, 3, 4])]
    assert gather(model(1, 1)) == [(0, 1, [1])]


def test_spans_in_a_circle_beside_a_root_belong_to_it():
    assert gather(model(1, start=0, end=9), retriever(2, 3), make_span(3, 2)) == [(0, 1, [1, 2, 3])]


def test_two_circles_are_two_turns():
    assert gather(model(1, 2), make_span(2, 1), model(3, 4), make_span(4, 3)) == [
        (0, 1, [1, 2]),
        (3, 3, [3, 4]),
    ]


SPANS = st.lists(
    st.builds(
        make_span,
        st.integers(1, 8),
        st.none() | st.integers(1, 10),
        kind=st.sampled_from(["CHAIN", "RETRIEVER", "LLM", None]),
        start=st.integers(0, 4),
        end=st.integers(0, 9),
    ),
    max_size=12,
)


@given(SPANS, st.randoms(use_true_random=False))
def test_neither_the_order_nor_repetition_changes_the_records(spans, random):
    repeated = [*spans, *random.choices(spans, k=len(spans))] if spans else []
    random.shuffle(repeated)
    assert gather_records(repeated, format_name="otlp_json") == gather_records(spans, format_name="otlp_json")
    assert is_whole(repeated) is is_whole(spans)


@given(SPANS)
def test_every_span_is_in_one_record_and_the_first_record_has_no_key(spans):
    records = gather_records(spans, format_name="otlp_json")
    assert sorted(span.span_id for record in records for span in record.spans) == sorted(
        {span.span_id for span in spans}
    )
    assert [record.record_key for record in records] == [
        record.root.span_id if place else "" for place, record in enumerate(records)
    ]
    for record in records:
        assert record.root in record.spans


def gather_later(known, *spans):
    """As `gather`, when the turns with these roots are stored under these keys."""
    named = {f"{root:016x}": f"{key:016x}" if key else "" for root, key in known.items()}
    return [
        (int(record.record_key or "0", 16), [int(span.span_id, 16) for span in record.spans])
        for record in gather_records(spans, format_name="otlp_json", known_turns=named)
    ]


def test_a_turn_keeps_its_key_when_an_earlier_one_comes():
    assert gather_later({2: 0}, *TURNS) == [(1, [1]), (0, [2])]


def test_a_turn_keeps_its_key_when_its_root_comes():
    spans = [model(3, 99, start=5), model(9, start=20), chain(99, 1, start=4), chain(1, start=1, end=10)]
    assert gather_later({3: 0, 9: 9}, *spans) == [(0, [1, 99, 3]), (9, [9])]
    assert gather_later({9: 0, 3: 3}, *spans) == [(3, [1, 99, 3]), (0, [9])]


def test_turns_that_turn_out_to_be_one_keep_the_first_key():
    spans = [model(3, 99, start=50), chain(99, 1, start=40), model(1, start=1)]
    assert gather_later({1: 0, 3: 3}, *spans) == [(0, [1, 99, 3])]
    assert gather_later({3: 3, 1: 1}, *spans) == [(1, [1, 99, 3])]


def test_a_turn_that_was_never_stored_leaves_the_empty_key_to_the_first():
    assert gather_later({2: 2}, *TURNS) == [(0, [1]), (2, [2])]


@given(SPANS, st.data())
def test_spans_that_come_one_by_one_never_give_two_turns_one_key_nor_a_new_key_to_a_known_turn(spans, data):
    first_versions = {span.span_id: span for span in reversed(spans)}
    order = data.draw(st.permutations(list(first_versions.values())))
    roots = {}
    for count in range(1, len(order) + 1):
        known = {root: key for key, root in roots.items()}
        records = gather_records(order[:count], format_name="otlp_json", known_turns=known)
        keys = [record.record_key for record in records]
        assert len(set(keys)) == len(keys)
        for record in records:
            held = {known[span.span_id] for span in record.spans if span.span_id in known}
            assert not held or record.record_key in held
        roots |= {record.record_key: record.root.span_id for record in records}
        assert "" in roots


@pytest.mark.parametrize(
    "parents",
    [
        lambda number: number - 1 or None,
        lambda number: number % 10_000 + 1,
        lambda number: None if number == 1 else 1,
        lambda number: number + 20_000,
        lambda number: None if number % 2 else number + 20_000,
    ],
    ids=["a chain", "a circle", "a star", "orphans", "roots and orphans"],
)
def test_ten_thousand_spans_are_gathered_in_linear_time(parents):
    spans = [make_span(number, parents(number), kind="LLM") for number in range(1, 10_001)]
    began = time.process_time()
    gather_records(spans, format_name="otlp_json")
    assert time.process_time() - began < 5, "about 0.5 s on a quiet machine, minutes if it were quadratic"


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([ROOT, RETRIEVER], True),
        ([ROOT, make_span(2, 1, kind="reranker")], True),
        ([ROOT, MODEL], False),
        ([RETRIEVER, MODEL], False),
        ([chain(1, 9), RETRIEVER, MODEL], False),
        ([ROOT, RETRIEVER, make_span(4, 90)], False),
        ([ROOT, RETRIEVER, make_span(4, 5), make_span(5, 4)], False),
        ([make_span(1, 2), retriever(2, 1)], False),
        ([], False),
        ([make_span(1), make_span(2, 1)], False),
    ],
)
def test_a_trace_is_whole_when_root_and_retrieval_are_there_and_no_parent_is_missing(spans, expected):
    assert expected is is_whole(spans)


@pytest.mark.parametrize(("start", "expected"), [(9, True), (2, False)])
def test_a_tools_result_is_a_retrieval_when_a_generation_started_after_it(start, expected):
    tool = make_span(2, 1, kind="TOOL", attributes={"output.value": "a"}, start=2, end=5)
    assert expected is is_whole([ROOT, tool, model(3, 1, start=start, end=20)])


def test_with_several_turns_each_needs_its_retrieval():
    turns = [chain(1), retriever(2, 1), model(3, 1), chain(5), model(6, 5)]
    assert not is_whole(turns)
    assert is_whole([*turns, retriever(7, 5)])
