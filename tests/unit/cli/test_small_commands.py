import json
import re
from pathlib import Path

import pytest

from fakes.traces import REFUND
from ragsonde.cli.main import COMMANDS, run
from ragsonde.scoring.table import FORMULAS
from ragsonde.scoring.wider_table import WIDER_FORMULAS
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.wire import wire_schema

ANSI = re.compile(r"\x1b\[[0-9;]*m")
SAMPLES = Path(__file__).parents[2] / "data" / "samples"


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    out, err = capsys.readouterr()
    return ended.value.code, ANSI.sub("", out), ANSI.sub("", err)


def test_extract_gives_one_object_a_trace_with_the_keys_of_the_contract(capsys):
    Path("a.jsonl").write_text(json.dumps(REFUND) + "\n" + json.dumps({**REFUND, "trace_id": "b"}), "utf-8")
    Path("c.json").write_text(json.dumps({**REFUND, "trace_id": "c"}, indent=1), "utf-8")

    code, out, err = call(capsys, "extract", "a.jsonl", "c.json", "--output", "json")
    objects = [json.loads(line) for line in out.splitlines()]

    assert (code, err) == (0, "")
    assert [found["trace_id"] for found in objects] == ["refund-1", "b", "c"]
    assert list(objects[0]) == [
        *("trace_id", "record_key", "query", "retrieval_query", "turns", "answer", "reference", "app"),
        *("environment", "release", "variant", "session_id", "user_id", "model", "usage", "latency_ms"),
        *("cost_usd", "occurred_at", "tags", "metadata", "contexts", "extraction"),
    ]
    context = objects[0]["contexts"][1]
    assert list(context) == [
        *("number", "rank", "id", "score", "content", "source_uri", "metadata", "origin", "retrieval_step"),
        "sentences",
    ]
    assert (context["number"], context["rank"]) == ("2", 1)
    assert context["sentences"] == [
        {"number": "2.1", "text": "Shipping inside the EU takes three to five working days."}
    ]


@pytest.mark.parametrize("name", ["langchain_openinference.otlp.json", "langchain_openinference.otlp.pb"])
def test_extract_reads_a_message_of_a_real_producer_and_explains_it(name, capsys):
    code, out, _ = call(capsys, "extract", str(SAMPLES / name), "--explain")

    assert code == 0
    assert re.search(r"\n +question +\S", out)
    assert re.search(r"contexts +openinference:", out)


def test_extract_for_people_shows_numbers_labels_and_what_looked_odd(capsys):
    message = {**REFUND, "contexts": [{"content": "One. Two.", "id": "c1", "score": 0.5, "rank": 7}, " "]}
    Path("a.json").write_text(json.dumps(message), "utf-8")

    _, out, _ = call(capsys, "extract", "a.json")

    assert re.search(r"app +shop *\n", out)
    assert "1  c1  score 0.5  producer" in out
    assert "1.2  Two." in out
    assert "blank: never relevant" in out
    assert "warning: contexts[0].rank" in out


@pytest.mark.parametrize(
    ("contexts", "expected"), [(None, "it is not known what was retrieved"), ([], "0: retrieval returned")]
)
def test_extract_tells_unknown_contexts_from_none(contexts, expected, capsys):
    Path("a.json").write_text(json.dumps({**REFUND, "contexts": contexts}), "utf-8")

    assert expected in call(capsys, "extract", "a.json")[1]


def test_extract_shows_the_good_names_the_bad_and_ends_with_2(capsys):
    Path("a.jsonl").write_text("{}\n" + json.dumps(REFUND) + "\n", "utf-8")

    code, out, err = call(capsys, "extract", "a.jsonl", "--output", "json")

    assert code == 2
    assert json.loads(out)["trace_id"] == "refund-1"
    assert err.startswith("ragsonde: a.jsonl:1: ")


def test_control_characters_of_a_trace_do_not_reach_the_terminal(capsys):
    Path("a.json").write_text(
        json.dumps({**REFUND, "query": "\x1b]0;owned\x07 \x9b31m [red]x[/red]"}), "utf-8"
    )

    _, out, _ = call(capsys, "extract", "a.json")

    assert not set(out) & {"\x1b", "\x07", "\x9b"}
    assert "[red]x[/red]" in out


def test_list_scorers_names_each_formula(capsys):
    code, out, _ = call(capsys, "list-scorers")

    assert code == 0
    for formula in FORMULAS:
        assert formula.id in out
        assert formula.comparison.question in out


def test_list_scorers_explains_bands_options_and_what_to_try(capsys):
    _, out, _ = call(capsys, "list-scorers", "--explain")

    text = " ".join(out.split())
    for formula in FORMULAS:
        for expected in [
            *(band.words for band in formula.bands),
            *(remedy.action for remedy in formula.remedies),
            *(option.meaning for option in formula.options),
            *([] if formula.is_default else [formula.configuration]),
        ]:
            assert " ".join(expected.split()) in text


def test_list_scorers_explains_the_causes_and_advises_only_commands_that_exist(capsys):
    _, out, _ = call(capsys, "list-scorers", "--explain")

    for cause in Cause:
        assert re.search(rf"^ +{cause} +\S", out, re.MULTILINE)
    advised = re.findall(r"`ragsonde ([a-z-]+)", out)
    assert {"why", "evaluate"} <= set(advised) <= set(COMMANDS)


def test_list_scorers_tells_instances_from_what_is_not_used(capsys):
    Path("ragsonde.yaml").write_text(
        "scorers: {strict: {scorer: context_position, threshold: 0.5}}\n", "utf-8"
    )

    scorers = json.loads(call(capsys, "list-scorers", "--output", "json")[1])
    table = call(capsys, "list-scorers")[1]

    assert [(one["scorer"], one["is_configured"]) for one in scorers] == [
        ("strict", True),
        ("context_precision", False),
        ("context_relevance", False),
        ("essential_context", False),
        ("statement_relevancy", False),
        *((formula.id, False) for formula in WIDER_FORMULAS),
    ]
    assert (scorers[0]["formula"], scorers[0]["threshold"]) == ("context_position", 0.5)
    assert "strict (context_position)" in table
    assert "rubric:NAME" in table
    assert "not among the settings' scorers" in table


def test_check_config_prints_values_and_origins(capsys, monkeypatch):
    Path("ragsonde.yaml").write_text("threads: 3\n", "utf-8")
    monkeypatch.setenv("RAGSONDE_DATABASE_URL", "postgresql://u:hunter2@h/d")

    code, out, _ = call(capsys, "check-config")

    assert code == 0
    assert re.search(r"threads +3 +ragsonde\.yaml", out)
    assert re.search(r"database_url +postgresql://u:\*\*\*\*@h/d +RAGSONDE_DATABASE_URL", out)
    assert re.search(r"broker_url +null +default", out)
    assert re.search(r"settings file: ragsonde\.yaml +hash: [0-9a-f]{12}", out)
    assert "hunter2" not in out


def test_check_config_speaks_json(capsys):
    found = json.loads(call(capsys, "check-config", "--output", "json")[1])

    assert list(found) == ["file", "hash", "settings"]
    assert {"key": "threads", "value": 16, "origin": "default"} in found["settings"]


def test_check_config_lists_all_problems_and_ends_with_2(capsys):
    Path("bad.yaml").write_text("thread: 3\nlog_level: loud\n", "utf-8")

    code, out, err = call(capsys, "check-config", "--config", "bad.yaml")

    assert (code, out) == (2, "")
    assert [line.split(":")[:3] for line in err.splitlines()] == [
        ["ragsonde", " bad.yaml", " log_level"],
        ["ragsonde", " bad.yaml", " thread"],
    ]


def test_doctor_where_nothing_is_set_up_says_what_to_start_and_not_what_to_check(capsys):
    code, out, _ = call(capsys, "doctor", "--output", "json")
    findings = {found["check"]: found for found in map(json.loads, out.splitlines())}

    assert code == 4
    for part in ("broker", "database"):
        assert findings[part]["verdict"] == "failing"
        assert "start one with `ragsonde up`" in findings[part]["found"]
        assert findings[part]["advice"] == ""
    assert findings["judge lexical"]["verdict"] == "ok"


def test_export_schema_prints_or_writes_the_published_schema(capsys):
    printed = call(capsys, "export-schema")[1]
    code, out, _ = call(capsys, "export-schema", "--output-dir", "deep/folder")

    assert json.loads(printed) == wire_schema()
    assert (code, out) == (0, "deep/folder/trace.v1.json\n")
    assert Path("deep/folder/trace.v1.json").read_text("utf-8") == printed


def test_export_schema_says_where_it_cannot_write(capsys):
    Path("file").write_text("", "utf-8")

    code, _, err = call(capsys, "export-schema", "--output-dir", "file")

    assert code == 2
    assert "file/trace.v1.json: cannot be written" in err


@pytest.mark.parametrize("output", [["--explain"], ["--output", "markdown"]])
def test_the_lowest_band_says_where_it_ends(capsys, output):
    _, out, _ = call(capsys, "list-scorers", *output)
    text = " ".join(out.replace("|", " ").split())
    # the band above begins at .2 and holds it
    assert "below 0.2 very poor: hardly anything helps" in text


def test_the_page_shows_labels_of_a_rubric(capsys):
    _, out, _ = call(capsys, "list-scorers", "--output", "markdown")
    assert 'labels: {"yes": 1, "partly": 0.5, "no": 0}' in out
