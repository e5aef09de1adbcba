"""What a path or a function found, read as a field: each field has its types, all others are refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.documents import read_document
from ragsonde.extraction.findings import FoundContext
from ragsonde.extraction.mapping_paths import name_kind
from ragsonde.extraction.texts import mend_text
from ragsonde_schemas.errors import ExtractionError
from ragsonde_schemas.trace import Context, ContextOrigin

if TYPE_CHECKING:
    from ragsonde.extraction.mapping_tree import Tree

LABEL_FIELDS = ("app", "environment", "release", "variant")
MAPPED_FIELDS = (
    *LABEL_FIELDS, "session_id", "user_id", "query", "retrieval_query", "answer", "reference", "contexts",
)  # fmt: skip
"""In the order in which they are found: a function sees what was found before it."""

_NUMBER_FIELDS = frozenset({*LABEL_FIELDS, "session_id", "user_id"})
_LEVELS_AT_MOST = 64


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads found values as fields.

    Attributes:
        source: named in messages: `mapping "output.docs"`, `extractor my_app:contexts`.
        origin: of contexts that do not have one of their own.
        tree: in which values were found; None for values of a function.
    """

    source: str
    origin: ContextOrigin
    tree: Tree | None = None

    def read_single(self, value: object, *, field: str) -> str | None:
        """The text of a field other than contexts; None where nothing was found.

        Raises:
            ExtractionError: it is no string, or for names and labels neither string nor number.
        """
        if value is None:
            return None
        text = self._read_text(value)
        if text is None and field in _NUMBER_FIELDS and _is_number(value):
            text = f"{value:d}" if isinstance(value, int) else f"{value:g}"
        if text is None:
            expected = "string or number" if field in _NUMBER_FIELDS else "string"
            raise self._refuse(field, value, f"{expected}, or null")
        return mend_text(text)

    def read_contexts(self, value: object) -> list[FoundContext] | None:
        """The contexts that a value is; None where nothing was found, empty where retrieval found nothing.

        A string is one context. Of a list, nulls are left out; one that holds nothing else is nothing found.

        Raises:
            ExtractionError: it is something else than a list or a string, or an item is.
        """
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            text = self._read_text(value)
            if text is None:
                raise self._refuse("contexts", value, "array, string or null")
            return [self._read_item(value if isinstance(value, Mapping) else text, "contexts")]
        items = [(rank, item) for rank, item in enumerate(value) if item is not None]
        if value and not items:
            return None
        return [self._read_item(item, f"contexts[{rank}]") for rank, item in items]

    def _read_item(self, item: object, place: str) -> FoundContext:
        if isinstance(item, Context):
            return self._read_own(item)
        if isinstance(item, Mapping):
            item = self._flatten_content(dict(item), place)
        elif (text := self._read_text(item)) is not None:
            return FoundContext(mend_text(text), self.origin)
        else:
            raise self._refuse(place, item, "string or {content, id?, score?, metadata?}")
        document = read_document(keep_json(item))
        return FoundContext(
            None if document.content is None else mend_text(document.content),
            self.origin,
            id=None if document.id is None else mend_text(document.id),
            score=document.score,
            metadata=document.metadata,
        )

    def _flatten_content(self, item: dict[Any, Any], place: str) -> dict[Any, Any]:
        """A content that was JSON in a string is that string again; a number is no content."""
        content = item.get("content")
        if content is None or isinstance(content, str):
            return item
        if isinstance(content, dict | list):
            text = self._read_text(content)
            whole = text if text is not None else json.dumps(keep_json(content), ensure_ascii=False)
            return {**item, "content": whole}
        raise self._refuse(f"{place}.content", content, "string")

    def _read_own(self, context: Context) -> FoundContext:
        has_text = bool(context.content) or context.id is None
        return FoundContext(
            mend_text(context.content) if has_text else None,
            self.origin,
            id=context.id,
            score=context.score,
            source_uri=context.source_uri,
            metadata=keep_json(context.metadata) or None,
            retrieval_step=context.retrieval_step,
        )

    def _read_text(self, value: object) -> str | None:
        if self.tree is not None:
            return self.tree.read_text(value)
        return value if isinstance(value, str) else None

    def _refuse(self, place: str, value: object, expected: str) -> ExtractionError:
        return ExtractionError(f"{place}: {self.source} gave {name_kind(value)}, expected {expected}")


def keep_json(value: object, level: int = 1) -> Any:  # noqa: ANN401 - JSON holds anything
    """A value of a user's function as JSON can hold it: what it cannot, as text; not nested too deeply."""
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        if level > _LEVELS_AT_MOST:
            return None
        if isinstance(value, Mapping):
            return {mend_text(str(key)): keep_json(item, level + 1) for key, item in value.items()}
        return [keep_json(item, level + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Real):
        return _keep_number(value)
    return mend_text(str(value))


def _keep_number(value: Real) -> int | float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    if not math.isfinite(number):
        return None
    return int(value) if isinstance(value, Integral) else number


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
