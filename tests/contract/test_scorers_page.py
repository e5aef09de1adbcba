"""The page of scorers is the table's; the page on packages shows the package that tests install."""

import re
from pathlib import Path

import pytest
import yaml

from fakes.installed_packages import InstalledPackages
from ragsonde.cli.scorer_page import write_page
from ragsonde.plugins.formulas import load_formulas
from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde.settings import read_settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "scorers.md").read_text()
HOW_TO = (ROOT / "docs" / "how-to" / "add-a-scorer-or-judge.md").read_text()
ACME = ROOT / "tests" / "data" / "acme_rag"


def find_blocks(language, text):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_page_is_what_list_scorers_writes():
    """Write it again with `ragsonde list-scorers --output markdown` when the table has changed on purpose."""
    assert write_page(FORMULAS) == PAGE


def test_every_line_of_configuration_that_the_page_shows_is_valid():
    blocks = [yaml.safe_load(block)["scorers"] for block in find_blocks("yaml", PAGE)]
    scorers = build_scorers({name: options for block in blocks for name, options in block.items()})
    assert [scorer.formula for scorer in scorers] == list(FORMULAS)


def test_the_code_that_is_shown_is_the_packages():
    code = (ACME / "acme_rag.py").read_text()
    blocks = find_blocks("python", HOW_TO)
    assert len(blocks) == 2
    assert all(block.partition("\n\n\n")[2] in code for block in blocks), "but for the imports of each"
    (metadata,) = ACME.glob("*.dist-info/entry_points.txt")
    shown = re.findall(r'^(\w+) = "(.+)"$', "".join(find_blocks("toml", HOW_TO)), re.MULTILINE)
    assert [f"{name} = {target}" for name, target in shown] == re.findall(
        r"^\w+ = .+$", metadata.read_text(), re.MULTILINE
    )


def test_the_settings_that_are_shown_are_valid_where_the_package_is_installed(tmp_path, monkeypatch):
    (settings,) = find_blocks("yaml", HOW_TO)
    path = tmp_path / "ragsonde.yaml"
    path.write_text(settings)
    with InstalledPackages(tmp_path, monkeypatch) as packages:
        packages.add(ACME)
        read = read_settings(path, environ={})
        (scorer,) = build_scorers(read.scorers, formulas=load_formulas())
    assert (scorer.formula_id, read.judges[0].kind) == ("acme_first", "acme_words")


@pytest.mark.parametrize("name", [formula.id for formula in FORMULAS])
def test_every_scorer_has_its_part(name):
    assert re.search(rf"^## {name}(:NAME)?$", PAGE, re.MULTILINE)
