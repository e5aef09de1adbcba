"""Every page is in the site's navigation; relative links lead to files and headings that are there.

MkDocs is not needed: `make docs` finds the same when it builds the site.
"""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
READ_IN_THE_REPOSITORY = sorted(ROOT.glob("*.md"))
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def list_nav(node):
    if isinstance(node, str):
        return [node]
    values = node.values() if isinstance(node, dict) else node
    return [path for value in values for path in list_nav(value)]


def strip_code(page):
    """A page without what stands in code, where brackets are no links and # is no heading."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```", "", page, flags=re.DOTALL | re.MULTILINE))


def list_anchors(path):
    """The anchors of a page's headings, as both GitHub and MkDocs make them."""
    page = re.sub(r"^ *```.*?^ *```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    words = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", word.lower()).strip()) for word in words}


def find_broken(path):
    broken = []
    for target, anchor in LINK.findall(strip_code(path.read_text())):
        led_to = path if not target else path.parent / target
        if not led_to.exists() or (anchor and anchor not in list_anchors(led_to)):
            broken.append(f"{target}#{anchor}" if anchor else target)
    return broken


def test_every_page_is_in_the_navigation_once_and_no_other():
    listed = list_nav(SITE["nav"])
    assert sorted(listed) == [str(page.relative_to(DOCS)) for page in PAGES]


@pytest.mark.parametrize(
    "path", [*READ_IN_THE_REPOSITORY, *PAGES], ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_lead_to_files_and_headings(path):
    assert find_broken(path) == []


def test_a_broken_link_and_a_broken_anchor_are_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One heading\n[a](#one-heading) [b](#two) [c](away.md)\n`[d](e)`\n"
        "```\n# no heading\n```\n[f](#no-heading)"
    )
    assert find_broken(page) == ["#two", "away.md", "#no-heading"]


def test_headings_of_a_page_are_told_apart_by_their_anchors():
    """A second heading of the same words has another anchor in the site than on GitHub."""
    for path in PAGES:
        headings = re.findall(r"^##+ (.+)$", strip_code(path.read_text()), re.MULTILINE)
        assert len(headings) == len(set(headings)), path


def test_the_site_fetches_nothing_and_is_strict():
    assert SITE["strict"] is True
    assert SITE["theme"]["font"] is False
    assert SITE["plugins"] == ["search"]
    assert SITE["extra_css"] == ["site.css"]
    assert "url(" not in (DOCS / "site.css").read_text()
    assert "extra_javascript" not in SITE
    assert all("```mermaid" not in page.read_text() for page in PAGES), "its script would be fetched"


def test_links_out_of_the_documentation_become_paths():
    (hook,) = SITE["hooks"]
    spec = importlib.util.spec_from_file_location("links_out", ROOT / hook)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    inside = "[c](upgrade.md#x) ![d](../images/d.png) [e](../scaling.md)"
    page = f"[a](../../deploy/a.yaml) [`b.py`](../../tests/b.py) {inside}"
    written = module.replace_links(page, path="how-to/page.md")
    assert written == f"a (`deploy/a.yaml`) `b.py` (`tests/b.py`) {inside}"
