import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.forest import Forest

LINKS = st.dictionaries(st.sampled_from("abcdefgh"), st.none() | st.sampled_from("abcdefghxy"))
NODES = st.sets(st.sampled_from("abcdefgh"))


def test_roots_orphans_and_tops_are_told_apart():
    forest = Forest({"b": "a", "a": None, "d": "c", "c": "gone"})
    assert forest.roots == ("a",)
    assert forest.orphans == {"c": "gone"}
    assert forest.tops == {"a": "a", "b": "a", "c": "c", "d": "c"}
    assert forest.loops == ()


def test_a_circle_is_cut_at_its_first_member():
    forest = Forest({"hang": "b", "b": "c", "c": "d", "d": "b", "own": "own"})
    assert forest.loops == ("b", "own")
    assert list(forest.ancestors("hang")) == ["b"]
    assert list(forest.ancestors("c")) == ["d", "b"]
    assert forest.tops["d"] == "b"


def test_what_is_above_and_below():
    forest = Forest({"a": None, "b": "a", "c": "b", "d": "a", "e": None})
    assert forest.below({"b", "e"}) == {"c"}
    assert forest.above({"c"}) == {"a", "b"}
    assert forest.outermost({"b", "c", "d"}) == {"b", "d"}


@given(LINKS, NODES)
def test_below_above_and_outermost_agree_with_the_ancestors(links, nodes):
    forest = Forest(links)
    above = {node: set(forest.ancestors(node)) for node in links}
    chosen = nodes & set(links)
    assert forest.below(chosen) == {node for node in links if above[node] & chosen}
    assert forest.above(chosen) == {other for node in chosen for other in above[node]}
    assert forest.outermost(chosen) == {node for node in chosen if not above[node] & chosen}


@pytest.mark.parametrize("values", [{"a": 1, "b": 2}, {"a": 2, "b": 1}])
def test_of_two_values_above_the_greater_holds(values):
    forest = Forest({"a": None, "b": "a", "c": "b", "d": None})
    assert forest.greatest_above(values) == {"b": values["a"], "c": 2}


@given(LINKS, st.dictionaries(st.sampled_from("abcdefgh"), st.integers()))
def test_the_greatest_value_above_is_that_of_the_ancestors(links, values):
    forest = Forest(links)
    chosen = {node: value for node, value in values.items() if node in links}
    above = {node: [chosen[up] for up in forest.ancestors(node) if up in chosen] for node in links}
    assert forest.greatest_above(chosen) == {node: max(found) for node, found in above.items() if found}


@given(LINKS)
def test_every_id_stands_in_one_tree_whose_top_has_a_reason(links):
    forest = Forest(links)
    assert set(forest.tops) == set(links)
    assert set(forest.tops.values()) == {*forest.roots, *forest.orphans, *forest.loops}
    for node, top in forest.tops.items():
        assert top == [node, *forest.ancestors(node)][-1]
        assert node not in forest.ancestors(node)


@pytest.mark.parametrize("parent", [lambda n: n - 1, lambda n: (n + 1) % 50_000])
def test_depth_costs_no_recursion(parent):
    links = {str(number): str(parent(number)) for number in range(50_000)}
    forest = Forest(links)
    assert len(forest.below({next(iter(forest.tops.values()))})) == 49_999
