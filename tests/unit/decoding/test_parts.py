from hypothesis import given
from hypothesis import strategies as st

from ragsonde.decoding.found_parts import find_part, group_members
from ragsonde.decoding.parts import Part, group_parts
from ragsonde.decoding.table import JSON_FORMATS

RUN = {"id": "r", "trace_id": "t", "run_type": "chain", "inputs": {}}
OBSERVATION = {"id": "r", "traceId": "t", "type": "SPAN", "startTime": "2026-11-29T22:13:00Z"}
NAMES = st.none() | st.sampled_from("abc")
PARTS = st.lists(st.builds(Part, NAMES, NAMES.map(lambda name: name and f"trace {name}"), NAMES), max_size=8)


def test_a_part_is_told_by_its_own_format():
    found = [find_part(value, JSON_FORMATS) for value in (RUN, OBSERVATION, {"trace_id": "t"}, 5, None)]
    assert [part and (part.row.name, part.part) for part in found] == [
        ("langsmith_run", Part("r", "t")),
        ("langfuse_export", Part("r", "t")),
        None,
        None,
        None,
    ]


def test_parts_of_two_formats_are_two_messages_though_their_traces_have_one_name():
    found = [find_part(value, JSON_FORMATS) for value in (RUN, OBSERVATION, None, RUN, OBSERVATION)]
    assert group_members(found) == [(0, 3), (1, 4), (2,)]


@given(PARTS)
def test_every_part_is_in_one_group_and_those_of_one_trace_or_id_are_in_the_same(parts):
    groups = group_parts(parts)
    assert sorted(number for group in groups for number in group) == list(range(len(parts)))
    group_of = {number: place for place, group in enumerate(groups) for number in group}
    for one, part in enumerate(parts):
        for other, second in enumerate(parts):
            if part.id is not None and part.id == second.id:
                assert group_of[one] == group_of[other]


@given(PARTS)
def test_parts_that_name_one_trace_are_in_one_group_where_ids_are_unique(parts):
    unique = [part._replace(id=str(number)) for number, part in enumerate(parts)]
    for group in group_parts(unique):
        names = {unique[number].trace_id for number in group} - {None}
        assert len(names) <= 1
    named = [part.trace_id for part in unique if part.trace_id is not None]
    holding = [group for group in group_parts(unique) if any(unique[number].trace_id for number in group)]
    assert len(holding) == len(set(named))


def test_what_one_of_two_parts_of_an_id_does_not_say_the_other_says():
    parts = [Part("a"), Part("a", "t"), Part("b", "t"), Part("c"), Part("c", None, "b"), Part("d")]
    assert group_parts(parts) == [[0, 1, 2, 3, 4], [5]]
