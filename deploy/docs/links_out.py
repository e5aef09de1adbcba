"""A hook of MkDocs: links from the documentation to files beside it become their paths, as text.

The site holds `docs/` alone; a link to a file of the repository would lead nowhere.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\.?/[^)#\s]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:  # noqa: ANN401 - MkDocs's own class
    """The page with such links replaced."""
    return replace_links(markdown, path=page.file.src_uri)


def replace_links(markdown: str, *, path: str) -> str:
    """The page with links out of `docs/` replaced.

    Args:
        markdown: of the page.
        path: of the page, from `docs/` on.
    """

    def replace(link: re.Match[str]) -> str:
        words, target = link.groups()
        place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(path), target))
        if place.startswith("docs/"):
            return link.group()
        return words if words.strip("`") == place else f"{words} (`{place}`)"

    return _LINK.sub(replace, markdown)
