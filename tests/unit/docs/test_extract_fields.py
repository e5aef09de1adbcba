"""The examples of docs/how-to/extract-fields.md do what the page says, from the page's own blocks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ragsonde.cli.main import run as run_command
from ragsonde.settings import read_settings

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "extract-fields.md").read_text()
BLOCKS = re.findall(r"```(yaml|python)\n# ([\w.]+)\n(.*?)```", PAGE, re.DOTALL)
SETTINGS = [block for _, name, block in BLOCKS if name == "ragsonde.yaml"]
RAG_RESULTS = [
    {"content": "Fourteen days.", "id": "a", "relevanceScore": "0.9"},
    {"content": "Free shipping.", "id": "b", "relevanceScore": "0.2"},
    {"content": "By card.", "id": "c", "relevanceScore": 0.6},
]
FAQ = "A refund is issued within 14 days after the returned parcel arrives."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the page's Python files; their modules are forgotten afterwards."""
    modules = {name: block for language, name, block in BLOCKS if language == "python"}
    for name, block in modules.items():
        (tmp_path / name).write_text(block)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in modules:
        sys.modules.pop(name.removesuffix(".py"), None)


def extract(folder, capsys, settings, **fields):
    """What `ragsonde extract --config` makes of a native message."""
    (folder / "ragsonde.yaml").write_text(settings)
    message = {"trace_id": "t-1", "query": "How long does a refund take?", **fields}
    (folder / "trace.json").write_text(json.dumps(message))
    with pytest.raises(SystemExit) as ended:
        run_command(["extract", "trace.json", "--config", "ragsonde.yaml", "--output", "json"])
    assert ended.value.code in {0, None}
    return json.loads(capsys.readouterr().out)


def find_settings(part):
    (block,) = (block for block in SETTINGS if part in block)
    return block


def contents(described):
    contexts = described["contexts"]
    return None if contexts is None else [context["content"] for context in contexts]


@pytest.mark.parametrize("block", SETTINGS)
def test_all_settings_are_accepted(block, tmp_path):
    (tmp_path / "ragsonde.yaml").write_text(block)
    assert len(read_settings(tmp_path / "ragsonde.yaml").extraction) == 1


@pytest.mark.parametrize(
    ("value", "found", "gap"),
    [
        ("One text.", ["One text."], None),
        (["a", {"content": "b", "id": 7}], ["a", "b"], None),
        ([], [], None),
        (None, None, None),
    ],
)
def test_retrieved_context_of_the_metadata(folder, capsys, value, found, gap):
    settings = find_settings("metadata.retrievedContext")
    described = extract(folder, capsys, settings, app="shop", metadata={"retrievedContext": value})
    assert (contents(described), described["extraction"]["gap"]) == (found, gap)


@pytest.mark.parametrize(
    ("results", "found", "gap"),
    [
        (RAG_RESULTS, ["Fourteen days.", "By card."], None),
        (RAG_RESULTS[1:2], [], "filtered_empty"),
        ([], [], None),
        (None, None, None),
    ],
)
def test_filter_by_a_score_that_may_be_a_text(folder, capsys, results, found, gap):
    described = extract(folder, capsys, find_settings("ragResults"), metadata={"ragResults": results})
    assert (contents(described), described["extraction"]["gap"]) == (found, gap)
    if found:
        assert [context["score"] for context in described["contexts"]] == [0.9, 0.6]


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"faq": ["a"], "manuals": ["b", "a"], "tickets": "c"}, ["a", "b", "c"]),
        ({"faq": ["a"], "manuals": None, "tickets": []}, ["a"]),
        ({"faq": [], "manuals": [], "tickets": []}, []),
        ({}, None),
    ],
)
def test_three_sources(folder, capsys, metadata, found):
    described = extract(folder, capsys, find_settings("metadata.faq"), metadata=metadata)
    assert contents(described) == found


@pytest.mark.parametrize(
    ("query", "metadata", "found"),
    [
        ("Where is my order?", {"order": ["Sent on Monday."], "manuals": ["m"]}, ["Sent on Monday."]),
        ("How do I descale it?", {"order": ["o"], "manuals": ["With vinegar."]}, ["With vinegar."]),
        ("Where is my order?", {"order": []}, []),
        ("Where is my order?", {"manuals": ["m"]}, None),
    ],
)
def test_choice_by_the_question(folder, capsys, query, metadata, found):
    settings = find_settings("choose_by_query")
    described = extract(folder, capsys, settings, query=query, metadata=metadata)
    assert contents(described) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("How long does a refund take within the EU?", 2),
        ("Refund issued?", 1),
        ("Blue cheese", 0),
        (None, None),
    ],
)
def test_a_search_of_today_is_marked(folder, capsys, query, found):
    described = extract(folder, capsys, find_settings("search_again"), app="shop", query=query)
    assert (None if described["contexts"] is None else len(described["contexts"])) == found
    assert described["extraction"]["re_retrieved"] is (found is not None)
    if found:
        assert described["contexts"][0]["origin"] == "extractor"


def test_texts_for_ids(folder, capsys):
    span = {
        "traceId": "0" * 31 + "1",
        "spanId": "0" * 15 + "1",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "retrieval"}},
            {
                "key": "gen_ai.retrieval.documents",
                "value": {"stringValue": '[{"id": "faq-12", "score": 0.9}]'},
            },
        ],
    }
    (folder / "spans.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    (folder / "resolver.yaml").write_text(find_settings("resolver"))
    for config, found in (([], None), (["--config", "resolver.yaml"], [FAQ])):
        with pytest.raises(SystemExit):
            run_command(["extract", "spans.json", "--output", "json", *config])
        described = json.loads(capsys.readouterr().out)
        assert contents(described) == found
        assert described["extraction"]["gap"] == (None if found else "context_text_missing")


def test_the_python_example_prints_what_it_says():
    (code,) = re.findall(r"```python\n(from ragsonde import evaluate.*?)```", PAGE, re.DOTALL)
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.strip() == re.search(r"print\(.*\)  # (\d+)", code)[1]
