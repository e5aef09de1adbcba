"""add-a-scorer-or-judge.md: its code, saved as printed, is modules that score a trace and judge it."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from fakes.traces import make_trace
from ragsonde.judging.options import JudgeOptions
from ragsonde.scoring.outcomes import score
from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde_schemas.assessment import Aspect, Assessment, ContextVerdict
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.rubric import Rubric

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "add-a-scorer-or-judge.md").read_text()
SCORER, JUDGE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
POLITE = Rubric(name="tone", question="Is it polite?", ratings=("1", "2", "3"), is_scale=True)


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Saves code as a file of its own, and imports that."""

    def save_and_import(code):
        file = tmp_path / "acme_rag.py"
        file.write_text(code)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, file.stem, module)
        spec.loader.exec_module(module)
        return module

    return save_and_import


@pytest.mark.parametrize("code", [SCORER, SCORER + JUDGE], ids=["alone", "with the judge in one file"])
def test_the_scorer_scores_a_trace(save, code):
    (scorer,) = build_scorers({"acme_first": {}}, formulas=(*FORMULAS, save(code).FIRST))
    trace = make_trace()
    verdicts = {
        context.number: ContextVerdict(relevant=rank == 0) for rank, context in enumerate(trace.contexts)
    }
    outcome = score(scorer, trace, Assessment(contexts=verdicts))
    assert (outcome.raw, outcome.reason) == (1.0, "1.00: context 1 is relevant")


@pytest.mark.parametrize("code", [JUDGE, SCORER + JUDGE], ids=["alone", "with the scorer in one file"])
def test_the_judge_gives_verdicts_and_ratings(save, code):
    options = JudgeOptions(name="words", kind="acme_words", options={"words": ["Refund"]})
    judge = save(code).build_judge(options, rubrics=(POLITE,))
    trace = make_trace(contexts=["A refund takes 14 days.", "By card."])
    assessment = judge.assess(trace, frozenset({Aspect.RELEVANT, Aspect.RUBRICS}))
    assert [verdict.relevant for verdict in assessment.contexts.values()] == [True, False]
    assert (assessment.rubrics["tone"].rating, assessment.rubrics["tone"].digest) == ("3", POLITE.digest)


def test_the_judge_refuses_to_be_without_words(save):
    options = JudgeOptions(name="words", kind="acme_words", options={"words": []})
    with pytest.raises(ConfigError, match=r"options\.words: is missing"):
        save(JUDGE).build_judge(options, rubrics=())
