"""Marks in a context's text change none of it."""

from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.sentences import number_sentences
from ragsonde.page.marked_text import mark_sentences

TEXT = "The torch needs one battery.  It lasts for nine hours.\nDo not burn it."


def mark(text, *, essential=(), relevant=()):
    sentences = number_sentences(text, context_number="1")
    return mark_sentences(text, sentences, essential=frozenset(essential), relevant=frozenset(relevant))


def test_the_named_sentences_are_marked():
    pieces = mark(TEXT, essential=["1.1"], relevant=["1.1", "1.2"])
    assert [(piece.text, piece.mark) for piece in pieces if piece.number] == [
        ("The torch needs one battery.", "essential"),
        ("It lasts for nine hours.", "relevant"),
        ("Do not burn it.", ""),
    ]


def test_a_sentence_that_comes_twice_is_marked_where_it_was_named():
    pieces = mark("Yes. Yes.", essential=["1.2"])
    assert [piece.mark for piece in pieces if piece.number] == ["", "essential"]


@given(st.text(st.sampled_from("ab .\n\t!?\u00e9\u3002"), max_size=60))
def test_put_together_the_pieces_are_the_text(text):
    assert "".join(piece.text for piece in mark(text)) == text
