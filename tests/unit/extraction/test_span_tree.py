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


def test_of_equal_ids_the_last_one_holds():
    tree = SpanTree([make_span(1, name="old"), make_span(1, name="new")])
    assert [span.name for span in tree.spans] == ["new"]


def test_ancestors_are_nearest_first():
    spans = [make_span(1), make_span(2, 1), make_span(3, 2), make_span(4, 3)]
    tree = SpanTree(spans)
    assert ids(tree.ancestors(spans[3])) == [3, 2, 1]
    assert ids(tree.ancestors(spans[0])) == []


def test_ancestors_end_at_a_missing_parent_and_in_a_circle():
    orphan = make_span(2, 99)
    assert ids(SpanTree([orphan]).ancestors(orphan)) == []
    circle = [make_span(1, 3), make_span(2, 1), make_span(3, 2)]
    assert ids(SpanTree(circle).ancestors(circle[0])) == [3, 2]
    own = make_span(1, 1)
    assert ids(SpanTree([own]).ancestors(own)) == []


def test_ancestors_are_bounded():
    spans = [make_span(1), *(make_span(number, number - 1) for number in range(2, 1000))]
    assert len(list(SpanTree(spans).ancestors(spans[-1]))) == 256


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
