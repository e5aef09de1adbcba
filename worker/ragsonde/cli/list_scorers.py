"""`ragsonde list-scorers`."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from ragsonde.cli.options import ConfigOption
from ragsonde.cli.scorer_cards import describe_scorer, print_cards, print_causes, print_list
from ragsonde.cli.scorer_page import write_page
from ragsonde.cli.terminal import write_json
from ragsonde.plugins.formulas import load_formulas
from ragsonde.scoring.scorer import Scorer
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings

EXAMPLES = (
    ("ragsonde list-scorers", "what each scorer answers"),
    ("ragsonde list-scorers --explain", "bands, options, what to try, and why there may be no score"),
    ("ragsonde list-scorers --output json", "all of it, for scripts"),
    ("ragsonde list-scorers --output markdown", "the reference page, with scorers of installed packages"),
)


class ListForm(StrEnum):
    """How the scorers are shown."""

    TABLE = "table"
    """for people"""
    JSON = "json"
    """for scripts"""
    MARKDOWN = "markdown"
    """the reference page"""


ListOption = Annotated[
    ListForm, typer.Option("--output", "-o", help="For people, for scripts, or as the reference page.")
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Also how to read the scores, and what to try.")
]


def list_scorers(
    *, explain: ExplainOption = False, config: ConfigOption = None, output: ListOption = ListForm.TABLE
) -> None:
    """List the scorers and how to read their scores.

    Scorers of the settings are listed under their instance names with the formula they compute by.
    """
    formulas = load_formulas()
    scorers = build_scorers(read_settings(config).scorers, formulas=formulas)
    used = {scorer.formula_id for scorer in scorers}
    unused = tuple(Scorer(formula.id, formula) for formula in formulas if formula.id not in used)
    if output is ListForm.MARKDOWN:
        sys.stdout.write(write_page(formulas))
    elif output is ListForm.JSON:
        write_json(
            [describe_scorer(scorer, is_configured=True) for scorer in scorers]
            + [describe_scorer(scorer, is_configured=False) for scorer in unused]
        )
    elif explain:
        print_cards(scorers + unused)
        print_causes()
    else:
        print_list(scorers, unused)
