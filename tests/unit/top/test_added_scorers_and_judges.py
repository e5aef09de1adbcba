"""A package that is installed beside ragsonde adds scorers and judges, by nothing but its entry points."""

import json
from pathlib import Path

import pytest

from fakes.stages import make_stages, states
from fakes.traces import make_envelope
from ragsonde.cli.main import run
from ragsonde.judging.options import JudgeOptions
from ragsonde.judging.table import build_judge, build_judges
from ragsonde.pipeline.assignments import Assignment
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.plugins.formulas import load_formulas
from ragsonde.plugins.judges import list_judge_kinds, load_judge_kinds
from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde.settings import read_settings
from ragsonde_schemas.errors import ConfigError

ACME = Path(__file__).parents[2] / "data" / "acme_rag"
SETTINGS = """
scorers:
  acme_first: {threshold: 0.5}
  rubric:tone: {question: "Is the answer polite?", points: 5}
judges:
  - {name: words, kind: acme_words, options: {words: [refund]}}
"""
WORDS = JudgeOptions(name="words", kind="acme_words", options={"words": ["refund"]})


@pytest.fixture
def acme(packages):
    packages.add(ACME)


@pytest.fixture
def settings_file(tmp_path):
    path = tmp_path / "ragsonde.yaml"
    path.write_text(SETTINGS)
    return path


@pytest.mark.usefixtures("acme")
def test_they_are_known_by_name():
    assert load_formulas()[: len(FORMULAS)] == FORMULAS
    assert [formula.id for formula in load_formulas()[len(FORMULAS) :]] == ["acme_first"]
    assert list_judge_kinds() == tuple(load_judge_kinds()) == ("acme_words",)


@pytest.mark.usefixtures("acme")
def test_a_trace_goes_the_whole_way_with_them(settings_file):
    settings = read_settings(settings_file, environ={})
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    judges = build_judges(settings.judges, scorers=scorers, added=load_judge_kinds())
    stages = make_stages(
        *judges.values(),
        assignments={name: Assignment(judge=judge, scorers=scorers) for name, judge in judges.items()},
    )
    ingest(make_envelope(), stages)
    assert states(stages) == {"words": "scored"}
    (stored,) = stages.traces.evaluations.values()
    assert [(score.scorer, score.raw, score.reason) for score in stored.result.outcomes] == [
        ("acme_first", 1.0, "1.00: context 1 is relevant"),
        ("rubric:tone", 1.0, '1.00: rated 5 of 5 on "Is the answer polite?"'),
    ]


@pytest.mark.usefixtures("acme")
def test_evaluate_judges_and_scores_with_them(settings_file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces.jsonl").write_bytes(make_envelope().body + b"\n")
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", "traces.jsonl", "--config", str(settings_file), "--judge", "words", "-o", "json"])
    item = json.loads(capsys.readouterr().out.splitlines()[0])
    assert ended.value.code == 0
    assert item["judge"] == "words"
    assert [(score["scorer"], score["raw"], score["passed"]) for score in item["scores"]] == [
        ("acme_first", 1.0, True),
        ("rubric:tone", 1.0, None),
    ]


@pytest.mark.usefixtures("acme")
def test_check_config_shows_the_options_of_its_judge(settings_file, capsys):
    with pytest.raises(SystemExit) as ended:
        run(["check-config", "--config", str(settings_file), "-o", "json"])
    rows = {row["key"]: row["value"] for row in json.loads(capsys.readouterr().out)["settings"]}
    assert ended.value.code == 0
    assert rows["judges[0].kind"] == "acme_words"
    assert rows["judges[0].options.words[0]"] == "refund"


@pytest.mark.usefixtures("acme")
def test_list_scorers_shows_them_beside_ours(capsys):
    with pytest.raises(SystemExit):
        run(["list-scorers"])
    assert "Is the first context relevant?" in capsys.readouterr().out


def test_without_the_package_its_kind_and_its_scorer_are_unknown(settings_file):
    with pytest.raises(ConfigError) as caught:
        read_settings(settings_file, environ={})
    told = "\n".join(caught.value.problems)
    assert "judges[0].kind: found 'acme_words', expected 'lexical', 'litellm' or 'recorded'" in told
    assert "'acme_first' is no scorer" in told
    with pytest.raises(ConfigError, match="judge words: kind: found 'acme_words'"):
        build_judge(WORDS)


@pytest.mark.usefixtures("acme")
def test_a_kind_that_is_nearly_known_is_told_with_the_nearest(settings_file):
    settings_file.write_text(SETTINGS.replace("kind: acme_words", "kind: acme_wrods"))
    with pytest.raises(ConfigError, match=r"expected 'acme_words', 'lexical'.*did you mean acme_words\?"):
        read_settings(settings_file, environ={})


@pytest.mark.usefixtures("acme")
def test_wrong_options_are_told_by_the_judge_they_are_of():
    wrong = WORDS.model_copy(update={"options": {}})
    with pytest.raises(ConfigError) as caught:
        build_judge(wrong, added=load_judge_kinds())
    assert caught.value.problems == (
        "judge words: options.words: is missing; expected the words to look for",
    )


CLASHING = """
from dataclasses import replace

from ragsonde.scoring.table import find_formula

SAME_ID = replace(find_formula("signal_share"), aliases=())
SAME_ALIAS = replace(find_formula("signal_share"), id="mine", aliases=("mastra:ContextPositionMetric",))
SAME_AS_ACME = replace(find_formula("signal_share"), id="acme_first", aliases=())
NOTHING = 5
"""


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("SAME_ID", "its scorer is named signal_share, and so is one of ragsonde"),
        ("SAME_ALIAS", "its scorer is named mastra:ContextPositionMetric, and so is one of ragsonde"),
        (
            "SAME_AS_ACME",
            "its scorer is named acme_first, and so is one of entry point acme_first = acme_rag:FIRST",
        ),
        ("NOTHING", "found a int, expected a Formula"),
        ("MISSING", "cannot be loaded"),
    ],
)
@pytest.mark.usefixtures("acme")
def test_a_scorer_that_cannot_be_used_is_refused_by_name(packages, target, said):
    packages.write("other_rag", group="ragsonde.scorers", points={"other": target}, code=CLASHING)
    with pytest.raises(ConfigError) as caught:
        load_formulas()
    (problem,) = caught.value.problems
    assert problem.startswith(f"entry point other = other_rag:{target} of group ragsonde.scorers: ")
    assert said in problem


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lexical", "its kind of judge is named lexical, and so is one of ragsonde"),
        ("acme_words", "is named acme_words, and so is one of entry point acme_words = acme_rag:build_judge"),
    ],
)
@pytest.mark.usefixtures("acme")
def test_two_kinds_of_judges_of_one_name_are_refused_by_both_names(packages, name, said):
    packages.write("other_rag", group="ragsonde.judges", points={name: "build"}, code="build = print")
    with pytest.raises(ConfigError) as caught:
        list_judge_kinds()
    assert said in caught.value.problems[0]
    assert "= other_rag:build" in caught.value.problems[0]


ODD = """
from types import SimpleNamespace


def make(**changes):
    whole = {"name": "words", "fingerprint": "0" * 16, "is_free": True, "assess": print}
    return lambda options, *, rubrics: SimpleNamespace(**(whole | changes))


def fails(options, *, rubrics):
    raise KeyError("words")


renamed, unprinted = make(name="x"), make(fingerprint="v1")
unpriced, mute = make(is_free=None), make(assess=1)
number = 5
"""


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("renamed", "whose name is 'x', expected 'words'"),
        ("unprinted", "whose fingerprint is 'v1', expected 16 hex digits"),
        ("unpriced", "whose is_free is None, expected true or false"),
        ("mute", "whose assess is 1, expected a method"),
        ("fails", "kind odd failed with KeyError: 'words'"),
        ("number", "found a int, expected a function from JudgeOptions to a judge"),
        ("missing", "cannot be loaded"),
    ],
)
def test_a_judge_that_cannot_be_used_is_refused_by_name(packages, target, said):
    packages.write("odd_rag", group="ragsonde.judges", points={"odd": target}, code=ODD)
    with pytest.raises(ConfigError) as caught:
        build_judge(JudgeOptions(name="words", kind="odd"), added=load_judge_kinds())
    assert said in caught.value.problems[0]
