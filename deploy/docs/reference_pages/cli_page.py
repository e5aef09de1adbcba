"""The page of the command line, written from its commands."""

from __future__ import annotations

import inspect
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin

from typer.models import OptionInfo, ParameterInfo

from ragsonde.cli.failures import EXIT_CODES_HELP
from ragsonde.cli.main import COMMANDS, load_command
from reference_pages.markdown import draw_table, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPENING = """\
# The command line

Written by `make reference`; `ragsonde COMMAND --help` says the same. Every command also takes `--help`
(`-h`) and `--debug`, which shows the traceback of a failure; `ragsonde --version` prints the version.

"""
_ANY_NUMBER = 2**31 - 1
"""A bound of the database's, which says nothing to people."""
_WORDS: dict[object, str] = {
    bool: "",
    float: "number",
    int: "whole number",
    str: "text",
    Path: "file",
}


def write_page() -> str:
    """The page, as Markdown."""
    contents = draw_table(
        ("command", "does"),
        ((f"[`ragsonde {name}`](#ragsonde-{name})", row.summary) for name, row in COMMANDS.items()),
    )
    return "\n".join([_OPENING + EXIT_CODES_HELP + "\n", contents, *(_describe(name) for name in COMMANDS)])


def list_parameters(name: str) -> Iterator[tuple[Any, ParameterInfo | None, object]]:
    """Each parameter of a command that `--help` shows, with its declaration and its Python type."""
    module, _, function = COMMANDS[name].path.partition(":")
    signature = inspect.signature(getattr(import_module(module), function), eval_str=True)
    for parameter in load_command(name).params:
        if parameter.name not in signature.parameters or parameter.hidden:
            continue
        declared = signature.parameters[parameter.name].annotation
        kind, *notes = get_args(declared) if hasattr(declared, "__metadata__") else (declared,)
        info = next((note for note in notes if isinstance(note, ParameterInfo)), None)
        yield parameter, info, kind


def _describe(name: str) -> str:
    command = load_command(name)
    module = import_module(COMMANDS[name].path.partition(":")[0])
    examples = "\n".join(f"{line}    # {purpose}" for line, purpose in module.EXAMPLES)
    rows = [_write_row(*one) for one in list_parameters(name)]
    parts = [f"## ragsonde {name}\n", f"{command.help}\n"]
    if rows:
        parts.append(draw_table(("option", "value", "default", "what it does"), rows))
    return "\n".join([*parts, f"```text\n{examples}\n```\n"])


def _write_row(parameter: Any, info: ParameterInfo | None, kind: object) -> tuple[str, ...]:  # noqa: ANN401 - Typer's own classes moved between versions
    is_option = isinstance(info, OptionInfo) or parameter.opts[0].startswith("-")
    names = (
        ", ".join(quote(one) for one in (*parameter.opts, *parameter.secondary_opts))
        if is_option
        else quote(parameter.name.upper())
    )
    if not is_option and not parameter.required:
        names += ", may be left out"
    value = _name_value(kind, info)
    if not is_option and parameter.nargs == -1:
        value += ", one or more" if parameter.required else ", any number"
    if parameter.multiple:
        value += "; may be repeated"
    return names, value, _show_default(parameter.default), parameter.help or ""


def _name_value(kind: object, info: ParameterInfo | None) -> str:
    choices = _find_choices(kind)
    if choices:
        return f"one of {', '.join(quote(one) for one in choices)}"
    inner = _find_inner(kind)
    metavar = info.metavar if info is not None else None
    words = [quote(metavar)] if metavar else [_WORDS.get(inner, "text")]
    if info is not None and inner is not bool:
        words += [f">= {info.min:g}"] if info.min is not None else []
        words += [f"<= {info.max:g}"] if info.max is not None and info.max < _ANY_NUMBER else []
    return ", ".join(word for word in words if word)


def _find_inner(kind: object) -> object:
    """The type of one value of an optional or a repeated one."""
    if get_origin(kind) is None:
        return kind
    return next((_find_inner(one) for one in get_args(kind) if one not in {NoneType, Ellipsis}), str)


def _find_choices(kind: object) -> list[str]:
    inner = _find_inner(kind)
    return [str(one.value) for one in inner] if isinstance(inner, type) and issubclass(inner, Enum) else []


def _show_default(default: object) -> str:
    if default in (None, False, ()):
        return ""
    shown = default.value if isinstance(default, Enum) else default
    return quote("on" if shown is True else shown)
