"""How a value that was found is named in an error: its kind, never a text's content."""

from __future__ import annotations

from ragsonde_schemas.errors import DecodeError

_CHARACTERS = 40


def describe_value(value: object) -> str:
    """`number 5`, `a string of 12 characters`, `a list of 3`, `an object`, `null`, `true`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"number {_cut(str(value))}"
        case str():
            return f"a string of {len(value)} characters"
        case list():
            return f"a list of {len(value)}"
        case _:
            return "an object"


def move_error(error: DecodeError, *, where: str) -> DecodeError:
    """The same error at another place."""
    moved = DecodeError(error.reason, cut_place(error), where=where)
    moved.__cause__ = error.__cause__
    return moved


def cut_place(error: DecodeError) -> str:
    """What an error says, without its place."""
    return str(error).removeprefix(f"{error.where}: ")


def list_names(names: list[str]) -> str:
    """The first ten of `names`, each cut to 40 characters and quoted."""
    shown = ", ".join(ascii(_cut(name)) for name in names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown  # noqa: PLR2004 ten, as said above


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}..."
