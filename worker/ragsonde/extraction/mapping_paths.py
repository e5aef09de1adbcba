"""The user's JMESPath expressions: refused at start where they cannot work, and never a surprise after it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, cast

import jmespath
from jmespath.exceptions import IncompleteExpressionError, JMESPathTypeError, LexerError, ParseError
from jmespath.functions import Functions
from jmespath.visitor import TreeInterpreter

from ragsonde_schemas.errors import ExtractionError

if TYPE_CHECKING:
    from collections.abc import Iterator

CHARACTERS_AT_MOST = 4_000
"""Of an expression."""

_SHOWN_CHARACTERS = 200
_COMPARED = re.compile(r"'(<=?|>=?)' not supported between instances of '(\w+)' and '(\w+)'")
_KINDS = {
    "bool": "boolean",
    "dict": "object",
    "float": "number",
    "int": "number",
    "list": "array",
    "NoneType": "null",
    "str": "string",
}
_CHAINS = frozenset(
    {
        "filter_projection",
        "flatten",
        "index_expression",
        "pipe",
        "projection",
        "subexpression",
        "value_projection",
    }
)
"""Nodes of which the first child is applied to the tree, and the others to what it gives."""
_STEPS = frozenset({"pipe", "subexpression"})
"""Of them, those where the others are applied to that itself, not to its items."""
_SAME = frozenset({"current", "identity"})
_INNER = "attributes"
_ALWAYS = {"type": "literal", "value": True, "children": []}

Node = dict[str, Any]
"""A node of a compiled expression: its type, value and children."""


class Path:
    """A compiled expression.

    Attributes:
        text: as the user wrote it.
        keys: of the tree, or of its `attributes`, with which it begins.
    """

    def __init__(self, text: str, tree: Node) -> None:
        self.text = text
        self.keys = frozenset(_list_keys(tree))
        self._tree = tree
        without_filters = _drop_filters(tree)
        self._without_filters = None if without_filters == tree else without_filters

    def find(self, tree: object) -> Any:  # noqa: ANN401 - JSON holds anything
        """What the expression finds in a tree; None: nothing.

        Raises:
            ExtractionError: it met a value of a type that it cannot work with; names the type only.
        """
        return self._evaluate(self._tree, tree)

    def is_emptied_by_filter(self, tree: object) -> bool:
        """True where an expression that found `[]` would find something without its filters `[?...]`."""
        if self._without_filters is None:
            return False
        try:
            return bool(self._evaluate(self._without_filters, tree))
        except ExtractionError:
            return True  # the filter kept away what the rest of the expression cannot work with

    def _evaluate(self, expression: Node, tree: object) -> Any:  # noqa: ANN401 - JSON holds anything
        try:
            return TreeInterpreter().visit(cast("Any", expression), tree)
        except Exception as error:
            raise ExtractionError(f"{show_expression(self.text)}: {_describe_failure(error)}") from error


def compile_path(text: str) -> Path:
    """The expression, compiled.

    Raises:
        ValueError: it is no JMESPath, with the place; or calls a function that does not exist, or with too
            few or too many arguments.
    """
    if len(text) > CHARACTERS_AT_MOST:
        raise ValueError(
            f"found an expression of {len(text)} characters, expected at most {CHARACTERS_AT_MOST}"
        )
    try:
        tree = cast("Node", jmespath.compile(text).parsed)
        calls = [node for node in _walk(tree) if node["type"] == "function_expression"]
        path = Path(text, tree)
    except RecursionError as error:
        raise ValueError(f"{show_expression(text)} is nested too deeply") from error
    except ValueError as error:
        raise ValueError(_describe_syntax(text, error)) from error
    for call in calls:
        _check_call(text, call)
    return path


def show_expression(text: str) -> str:
    """An expression for a message: on one line, in double quotes, cut to 200 characters."""
    text = " ".join(text.split())
    return f'"{text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"}"'


def name_kind(value: object) -> str:
    """The type of a value in JSON's words: string, number, boolean, array, object, null."""
    return _KINDS.get(type(value).__name__, type(value).__name__)


def _describe_syntax(text: str, error: ValueError) -> str:
    place: int | None = None
    if isinstance(error, IncompleteExpressionError):
        place, fault = len(text), "ends too early"
    elif isinstance(error, LexerError):
        place, fault = error.lexer_position, str(error.message).partition("\n")[0].lower()
    elif isinstance(error, ParseError):
        place, fault = error.lex_position, f"did not expect {error.token_value!r}"
    else:
        fault = str(error).partition("\n")[0]
    if place is None:
        return f"no JMESPath: {fault}"
    around = " ".join(f"{text[max(0, place - 60) : place]} >>> {text[place : place + 40]}".split())
    return f"no JMESPath: character {place + 1}: {fault}, at >>> in: {around}"


def _check_call(text: str, call: Node) -> None:
    name = call["value"]
    known = Functions.FUNCTION_TABLE
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        meant = f"; did you mean {near[0]}()?" if near else f"; expected one of {', '.join(sorted(known))}"
        raise ValueError(f"{show_expression(text)}: no function {name}(){meant}")
    signature = known[name]["signature"]
    is_open = bool(signature) and signature[-1].get("variadic", False)
    found, expected = len(call["children"]), len(signature)
    if found < expected or (found > expected and not is_open):
        at_least = "at least " if is_open else ""
        raise ValueError(
            f"{show_expression(text)}: {name}() has {found} arguments, expected {at_least}{expected}"
        )


def _describe_failure(error: Exception) -> str:
    """What went wrong, by types only: values of a trace do not belong into messages."""
    if isinstance(error, JMESPathTypeError):
        found = _KINDS.get(error.actual_type, error.actual_type)
        expected = " or ".join(error.expected_types)
        return f"{error.function_name}() met a value of type {found}, expected {expected}"
    compared = _COMPARED.search(str(error)) if isinstance(error, TypeError) else None
    if compared:
        sign, left, right = compared.groups()
        kinds = f"{_KINDS.get(left, left)} with {_KINDS.get(right, right)}"
        return f"compared {kinds} by {sign}, expected two of a type: to_number() makes numbers of strings"
    return f"{type(error).__name__} while it was evaluated"


def _walk(tree: Node) -> Iterator[Node]:
    left = [tree]
    while left:
        node = left.pop()
        yield node
        left.extend(child for child in node["children"] if isinstance(child, dict))


def _list_keys(node: Node) -> Iterator[str]:
    """The keys that an expression asks the value for that it is applied to."""
    children = [child for child in node["children"] if isinstance(child, dict)]
    if node["type"] == "field":
        yield node["value"]
    elif node["type"] in _CHAINS:
        first, *others = children
        yield from _list_keys(first)
        is_inner = first["type"] == "field" and first["value"] == _INNER
        if others and node["type"] in _STEPS and (is_inner or first["type"] in _SAME):
            yield from _list_keys({**node, "children": others})
    elif node["type"] != "expref":
        for child in children:
            yield from _list_keys(child)


def _drop_filters(node: Any) -> Any:  # noqa: ANN401 - a slice has numbers for children
    """The expression with all its filters true."""
    if not isinstance(node, dict):
        return node
    children = [_drop_filters(child) for child in node["children"]]
    if node["type"] == "filter_projection":
        children[2] = _ALWAYS
    return {**node, "children": children}
