"""A context's text with the sentences marked that a judge named."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from ragsonde_schemas.trace import Sentence


class Piece(NamedTuple):
    """A stretch of text.

    Attributes:
        number: of the sentence it is, `` between sentences.
        mark: `essential`, `relevant` or ``.
    """

    text: str
    number: str = ""
    mark: str = ""


def mark_sentences(
    content: str, sentences: Sequence[Sentence], *, essential: AbstractSet[str], relevant: AbstractSet[str]
) -> tuple[Piece, ...]:
    """The whole text in pieces, in order: put together they are `content`.

    A sentence that is not found where it should stand (the splitter may have folded blanks) is left unmarked
    in the text between.
    """
    pieces: list[Piece] = []
    end = 0
    for sentence in sentences:
        start = content.find(sentence.text, end)
        if start < 0:
            continue
        if start > end:
            pieces.append(Piece(content[end:start]))
        end = start + len(sentence.text)
        mark = _choose_mark(sentence.number, essential=essential, relevant=relevant)
        pieces.append(Piece(sentence.text, sentence.number, mark))
    if end < len(content):
        pieces.append(Piece(content[end:]))
    return tuple(pieces)


def _choose_mark(number: str, *, essential: AbstractSet[str], relevant: AbstractSet[str]) -> str:
    if number in essential:
        return "essential"
    return "relevant" if number in relevant else ""
