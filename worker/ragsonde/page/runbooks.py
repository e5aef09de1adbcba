"""Runbooks of the documentation, as HTML: what to do about an alert, where no other place is configured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from ragsonde.page.links import link_runbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FENCE = "```"
_ITEM = re.compile(r"(?:[-*]|(\d+)\.) +(.*)")
_INLINE = re.compile(r"`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*")
_OTHER_RUNBOOK = re.compile(r"(Ragsonde\w+)\.md")


def read_runbook(name: str) -> str | None:
    """The Markdown of an alert's runbook, None where this installation has none.

    Args:
        name: of an alert that is known: it becomes part of a path.
    """
    package = Path(__file__).resolve().parents[1]
    # of the checkout, or beside the installed package
    for folder in (package.parents[1] / "docs" / "runbooks", package.parent / "ragsonde_runbooks"):
        file = folder / f"{name}.md"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return None


def show_markdown(text: str) -> Markup:
    """The HTML of what runbooks are written in: headings, paragraphs, lists, tables, code and links.

    The first heading is left out; links to other runbooks lead to them, links to files elsewhere in the
    documentation are text.
    """
    return Markup("\n").join(_show_block(block) for block in _split(text.splitlines()))


def _split(lines: Sequence[str]) -> Iterator[list[str]]:
    """Blocks that blank lines part; what stands between fences, and a list or table after a text, is one."""
    block: list[str] = []
    for line in lines:
        is_fenced = bool(block) and block[0].startswith(_FENCE)
        if is_fenced:
            block.append(line)
            if line.startswith(_FENCE):
                yield block
                block = []
            continue
        begins = line.startswith((_FENCE, "|")) or _ITEM.match(line) is not None
        if block and (not line.strip() or (begins and _is_text(block))):
            yield block
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield block


def _is_text(block: Sequence[str]) -> bool:
    return not block[0].startswith("|") and _ITEM.match(block[0]) is None


def _show_block(block: Sequence[str]) -> Markup:
    first = block[0]
    if first.startswith(_FENCE):
        code = "\n".join(line for line in block if not line.startswith(_FENCE))
        return Markup('<pre tabindex="0" role="region" aria-label="Commands"><code>{}</code></pre>').format(
            code
        )
    if first.startswith("# "):
        return Markup("")
    if first.startswith("## "):
        return Markup("<h2>{}</h2>").format(_show_inline(first[3:]))
    if first.startswith("|"):
        return _show_table(block)
    if (item := _ITEM.match(first)) is not None:
        return _show_list(block, start=item[1])
    return Markup("<p>{}</p>").format(_show_inline(" ".join(block)))


def _show_list(block: Sequence[str], *, start: str | None) -> Markup:
    items: list[str] = []
    for line in block:
        found = _ITEM.match(line)
        if found is not None:
            items.append(found[2])
        else:
            items[-1] += f" {line.strip()}"
    shown = Markup("").join(Markup("<li>{}</li>").format(_show_inline(item)) for item in items)
    if start is None:
        return Markup("<ul>{}</ul>").format(shown)
    return Markup('<ol start="{}">{}</ol>').format(start, shown)


def _show_table(block: Sequence[str]) -> Markup:
    rows = [[_show_inline(cell.strip()) for cell in line.strip("|").split("|")] for line in block]
    head, body = rows[0], rows[2:]
    heading = Markup("").join(Markup('<th scope="col">{}</th>').format(cell) for cell in head)
    lines = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(
                Markup('<td data-name="{}">{}</td>').format(name.striptags(), cell)
                for name, cell in zip(head, row, strict=False)
            )
        )
        for row in body
    )
    return Markup('<table class="stack"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>').format(
        heading, lines
    )


def _show_inline(text: str) -> Markup:
    shown: list[Markup] = []
    end = 0
    for found in _INLINE.finditer(text):
        shown += [escape(text[end : found.start()]), _show_marked(found)]
        end = found.end()
    return Markup("").join([*shown, escape(text[end:])])


def _show_marked(found: re.Match[str]) -> Markup:
    code, words, target, strong, emphasis = found.groups()
    if code is not None:
        return Markup("<code>{}</code>").format(code)
    if words is not None:
        return _show_link(words, target)
    if strong is not None:
        return Markup("<strong>{}</strong>").format(strong)
    return Markup("<em>{}</em>").format(emphasis)


def _show_link(words: str, target: str) -> Markup:
    other = _OTHER_RUNBOOK.fullmatch(target)
    if other is not None:
        return Markup('<a href="{}">{}</a>').format(link_runbook(other[1]), words)
    if target.startswith("https://"):
        return Markup('<a href="{}" rel="noreferrer">{}</a>').format(target, words)
    return escape(words)
