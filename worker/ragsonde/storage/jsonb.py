r"""Values as the JSON text that Postgres takes: what it refuses (`\u0000`, lone surrogates, NaN) is replaced.

The decoders have already mended the texts of traces; replies of judges come in unmended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError, to_json

from ragsonde.extraction.texts import mend_text

if TYPE_CHECKING:
    from ragsonde_schemas.value import Value

_ESCAPED_NUL = "\\u0000"


def clean_text(text: str | None) -> str | None:
    """The text with U+FFFD in place of each character that Postgres refuses; None stays None."""
    return text if text is None else mend_text(text)


def encode_json(value: object) -> str:
    """Any JSON-like value (also tuples, enums, times) as JSON text; infinite numbers and NaN as strings."""
    try:
        text = to_json(value, inf_nan_mode="strings").decode()
    except PydanticSerializationError:
        return encode_json(_clean(value))
    return encode_json(_clean(value)) if _ESCAPED_NUL in text and _holds_nul(value) else text


def encode_value(value: Value, *, exclude: set[str] | None = None) -> str:
    """A frozen value as JSON text, without the fields that hold their defaults."""
    try:
        text = value.model_dump_json(exclude=exclude, exclude_defaults=True)
    except PydanticSerializationError:
        text = _ESCAPED_NUL
    if _ESCAPED_NUL not in text:
        return text
    return encode_json(value.model_dump(exclude=exclude, exclude_defaults=True))


def _holds_nul(value: object) -> bool:
    r"""True unless the text `\u0000` stands in the value as six harmless characters."""
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(_holds_nul(key) or _holds_nul(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(_holds_nul(item) for item in value)


def _clean(value: Any) -> Any:  # noqa: ANN401  # a JSON-like tree has no better type
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
