import pytest

from builders.spans import make_span
from ragsonde.extraction.flattened import read_flattened
from ragsonde.extraction.span_tree import SpanTree


def ids(spans):
    return [int(span.span_id, 16) for span in spans]


def test_spans_stand_in_order_of_time_with_roots_and_orphans():
    tree = SpanTree(
        [make_span(3, 2, start=5), make_span(1, start=9), make_span(2, 1, start=1), make_span(4, 99)]
    )
    assert ids(tree.spans) == [2, 4, 3, 1]
    assert ids(tree.roots) == [1]
    assert ids(tree.orphans) == [4]


@pytest.mark.parametrize(
    ("thin", "full"),
    [
        (make_span(1), make_span(1, attributes={"a": 1})),
        (make_span(1, end=2), make_span(1, end=3)),
        (make_span(1, name="a"), make_span(1, name="b")),
    ],
)
def test_of_equal_ids_the_fuller_one_holds_in_either_order(thin, full):
    assert SpanTree([thin, full]).spans == SpanTree([full, thin]).spans == (full,)


def test_ancestors_are_nearest_first():
    spans = [make_span(1), make_span(2, 1), make_span(3, 2), make_span(4, 3)]
    tree = SpanTree(spans)
    assert ids(tree.ancestors(spans[3])) == [3, 2, 1]
    assert ids(tree.ancestors(spans[0])) == []


def test_ancestors_end_at_a_missing_parent_and_in_a_circle():
    orphan = make_span(2, 99)
    assert ids(SpanTree([orphan]).ancestors(orphan)) == []
    circle = [make_span(1, 3), make_span(2, 1), make_span(3, 2)]
    tree = SpanTree(circle)
    assert ids(tree.loops) == [1]
    assert [ids(tree.ancestors(span)) for span in circle] == [[], [1], [2, 1]]
    own = make_span(1, 1)
    assert ids(SpanTree([own]).ancestors(own)) == []


def test_each_tree_is_listed_under_its_topmost_span():
    spans = [make_span(3), make_span(1, 99), make_span(2, 3), make_span(4, 5), make_span(5, 4)]
    assert [(ids([top])[0], ids(members)) for top, members in SpanTree(spans).list_trees()] == [
        (1, [1]),
        (3, [2, 3]),
        (4, [4, 5]),
    ]


def test_flattened_lists_are_read_by_index():
    attributes = {
        "retrieval.documents.10.document.content": "c",
        "retrieval.documents.2.document.content": "b",
        "retrieval.documents.2.document.id": "2",
        "retrieval.documents.0.document.content": "a",
        "retrieval.documents": "x",
        "retrieval.documents.x.document.content": "x",
        "retrieval.documents.1": "x",
        "retrieval.documents.-1.document.content": "x",
        "retrieval.documents.²3.document.content": "x",
        "retrieval.documentsX.0.a": "x",
        "other": "x",
    }
    assert read_flattened(attributes, prefix="retrieval.documents") == [
        {"document.content": "a"},
        {"document.content": "b", "document.id": "2"},
        {"document.content": "c"},
    ]
