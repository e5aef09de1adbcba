"""`ragsonde extract`: the tree, and files that hold no RAG trace."""

import json
from pathlib import Path

import pytest

from ragsonde.cli.main import run as run_command

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
SPLIT = [
    f"langchain_openinference.split-{part}.otlp.json" for part in ("1of3", "2of3", "3of3-late-retriever")
]


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        run_command(["extract", *map(str, arguments)])
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


def test_the_tree_is_what_paths_are_written_against(capsys):
    code, out, err = call(capsys, SAMPLES / "langchain_openinference.otlp.json", "--tree")
    tree = json.loads(out)
    assert (code, err) == (0, "")
    assert {"input", "output", "metadata", "attributes", "spans"} <= tree.keys()
    assert tree["metadata"]["user_id"] == "u-77"
    assert len(tree["spans"]) == 9


def test_the_tree_is_indented_for_people_and_one_line_for_scripts(capsys):
    _, shown, _ = call(capsys, SAMPLES / "langchain_openinference.otlp.json", "--tree")
    _, compact, _ = call(capsys, SAMPLES / "langchain_openinference.otlp.json", "--tree", "--output", "json")
    assert shown.startswith('{\n  "input": "')
    assert compact.count("\n") == 1
    assert json.loads(shown) == json.loads(compact)


def test_a_trace_spread_over_the_lines_of_a_file_is_one_tree(capsys, tmp_path):
    file = tmp_path / "spans.jsonl"
    file.write_text("".join(json.dumps(json.loads((SAMPLES / name).read_text())) + "\n" for name in SPLIT))
    _, whole, _ = call(capsys, SAMPLES / "langchain_openinference.otlp.json", "--tree")
    _, out, _ = call(capsys, file, "--tree")
    assert json.loads(out) == json.loads(whole)


def test_a_tree_of_what_is_no_message_is_refused_by_name(capsys, tmp_path):
    (tmp_path / "bad.json").write_text('{"colour": 1}')
    code, out, err = call(capsys, tmp_path / "bad.json", "--tree")
    assert (code, out) == (2, "")
    assert "bad.json" in err
    assert "unknown_format" in err


def test_a_file_without_any_rag_trace_says_so(capsys):
    code, out, err = call(capsys, SAMPLES / "otlp_proto_example_trace.json")
    assert (code, out) == (0, "")
    assert "no trace of a RAG application" in err


def test_a_mapping_that_found_nothing_is_told(capsys, tmp_path):
    (tmp_path / "ragsonde.yaml").write_text("extraction: [{contexts: metadata.nowhere}]")
    (tmp_path / "trace.json").write_text('{"trace_id": "t", "query": "q", "contexts": ["c"]}')
    _, out, _ = call(capsys, tmp_path / "trace.json", "--config", tmp_path / "ragsonde.yaml")
    assert "warning: contexts: its mapping found nothing" in out


def test_a_failed_mapping_is_told_in_place_of_the_contexts(capsys, tmp_path):
    (tmp_path / "ragsonde.yaml").write_text("extraction: [{contexts: length(query)}]")
    (tmp_path / "trace.json").write_text('{"trace_id": "t", "query": "q", "contexts": ["c"]}')
    _, out, _ = call(capsys, tmp_path / "trace.json", "--config", tmp_path / "ragsonde.yaml")
    assert "failed: contexts" in out
    assert "not known what was retrieved" not in out


def test_a_chat_message_has_its_history_and_a_mapped_question_for_the_retriever(capsys, tmp_path):
    (tmp_path / "ragsonde.yaml").write_text("extraction: [{retrieval_query: metadata.rewritten}]")
    message = {
        "trace_id": "t",
        "messages": [
            {"role": "user", "content": "How long does a refund take?"},
            {"role": "assistant", "content": "14 days."},
            {"role": "user", "content": "And from abroad?"},
        ],
        "contexts": ["c"],
        "metadata": {"rewritten": "How long does a refund from abroad take?"},
    }
    (tmp_path / "trace.json").write_text(json.dumps(message))
    arguments = ("--config", tmp_path / "ragsonde.yaml", "--output", "json")
    found = json.loads(call(capsys, tmp_path / "trace.json", *arguments)[1])
    assert found["query"] == "And from abroad?"
    assert found["retrieval_query"] == "How long does a refund from abroad take?"
    assert [turn["role"] for turn in found["turns"]] == ["user", "assistant"]


def test_a_function_may_give_as_much_as_the_settings_let_a_message_hold(capsys, monkeypatch):
    Path("their_search.py").write_text("def contexts(trace): return ['x' * 60]")
    Path("a.json").write_text('{"trace_id": "t", "query": "q"}')
    Path("ragsonde.yaml").write_text("extraction: [{contexts: {function: 'their_search:contexts'}}]\n")
    assert json.loads(call(capsys, "a.json", "--output", "json")[1])["extraction"]["failure"] is None

    monkeypatch.setenv("RAGSONDE_MAX_BODY_BYTES", "59")
    found = json.loads(call(capsys, "a.json", "--output", "json")[1])

    assert "gave 60 bytes, expected at most 59" in found["extraction"]["failure"]
