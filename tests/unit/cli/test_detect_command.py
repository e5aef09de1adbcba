"""`ragsonde detect`: files in, alerts out."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from ragsonde.cli.detected_events import print_events
from ragsonde.cli.main import run as run_command

KEYS = [
    "stream", "kind", "at", "since", "drop", "drop_lower", "drop_upper", "evidence_days", "n", "mix_shift",
    "worst_strata",
]  # fmt: skip
START = datetime(2026, 9, 7, tzinfo=UTC).timestamp()
FALL_DAY = 9
DAYS = 11


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        run_command(["detect", *map(str, arguments)])
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


def list_rows(*, mean_after=0.6, seed=1, days=DAYS, per_day=1440):
    """(seconds, score, topic): two topics by turns, mean .8, from the tenth day on `mean_after`."""
    random = np.random.default_rng(seed)
    size = days * per_day
    seconds = START + np.arange(size) * (86_400 / per_day)
    means = np.where(seconds < START + FALL_DAY * 86_400, 0.8, mean_after)
    scores = random.binomial(2, means) / 2
    return list(zip(seconds.tolist(), scores.tolist(), ["easy", "hard"] * (size // 2), strict=True))


def write(path, heading, rows):
    path.write_text("\n".join([heading, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_a_fall_is_one_warning_and_one_page_as_json(capsys, tmp_path):
    file = write(tmp_path / "scores.csv", "time,value,stratum", list_rows())
    code, out, err = call(capsys, file, "--output", "json")
    assert (code, err) == (0, "")
    warned, paged = map(json.loads, out.splitlines())
    assert list(paged) == KEYS
    assert (warned["kind"], paged["kind"]) == ("warn", "page")
    assert paged["stream"] == "scores"
    since = datetime.fromisoformat(paged["since"]).timestamp()
    assert abs(since - START - FALL_DAY * 86_400) <= 3600
    assert since < datetime.fromisoformat(paged["at"]).timestamp() < since + 12 * 3600
    assert paged["drop_lower"] < 0.2 < paged["drop_upper"]
    assert paged["evidence_days"] >= 365
    assert abs(paged["mix_shift"]) < 0.02
    assert {one["stratum"] for one in paged["worst_strata"]} == {"easy", "hard"}
    assert sum(one["n"] for one in paged["worst_strata"]) == paged["n"]


def test_the_order_of_lines_and_the_form_of_times_do_not_matter(capsys, tmp_path):
    rows = list_rows()
    ordered = write(tmp_path / "a.csv", "time,value", [row[:2] for row in rows])
    np.random.default_rng(0).shuffle(rows)
    told = [
        f"{value},{datetime.fromtimestamp(seconds, UTC).isoformat()},ignored" for seconds, value, _ in rows
    ]
    shuffled = tmp_path / "b.csv"
    shuffled.write_text("\ufeffValue, Time ,extra\r\n" + "\r\n".join(told) + "\r\n\r\n", encoding="utf-8")
    assert call(capsys, ordered, "-o", "json") == call(capsys, shuffled, "-o", "json")


def test_people_get_a_table_in_the_order_of_time(capsys, tmp_path):
    rows = [(*row[:2], "relevance", app) for app, mean in (("shop", 0.6), ("desk", 0.8))
            for row in list_rows(mean_after=mean)]  # fmt: skip
    file = write(tmp_path / "scores.csv", "time,value,scorer,app", rows)
    code, out, err = call(capsys, file)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert [("warn" in line, "page" in line) for line in lines[1:]] == [(True, False), (False, True)]
    assert all("relevance/shop" in line for line in lines[1:])
    assert "desk" not in out


@pytest.mark.parametrize("columns", [None, "160", "80"])
def test_no_heading_of_the_table_is_cut(capsys, tmp_path, monkeypatch, columns):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    topics = ("billing and invoices", "returns of large things", "opening hours of shops")
    rows = [(*row[:2], topics[place % 3], "context_relevance", "shop")
            for place, row in enumerate(list_rows(mean_after=0.6))]  # fmt: skip
    code, out, _ = call(capsys, write(tmp_path / "scores.csv", "time,value,stratum,scorer,app", rows))
    assert code == 0
    for word in ("chance", "traces", "mix", "worst", "strata", "kind", "billing", "invoices", "days"):
        assert word in out


def test_streams_share_the_budget_of_false_pages(capsys, tmp_path):
    alone = write(tmp_path / "a.csv", "time,value", [row[:2] for row in list_rows()])
    many = write(
        tmp_path / "b.csv",
        "time,value,app",
        [(*row[:2], "shop") for row in list_rows()]
        + [(START + day * 86_400, 1, f"idle-{n}") for day in range(DAYS) for n in range(200)],
    )
    pages = [json.loads(call(capsys, file, "-o", "json")[1].splitlines()[-1]) for file in (alone, many)]
    assert pages[0]["evidence_days"] < 365 * 201 <= pages[1]["evidence_days"]


def test_releases_do_not_part_a_stream_and_those_near_the_fall_are_named(capsys, tmp_path):
    rows = [
        (*row[:2], f"r{int((row[0] - START) * 500 / DAYS / 86_400)}") for row in list_rows(mean_after=0.5)
    ]
    file = write(tmp_path / "scores.csv", "time,value,release", rows)
    code, out, _ = call(capsys, file, "-o", "json")
    told = [json.loads(line) for line in out.splitlines()]
    assert (code, told[-1]["kind"]) == (0, "page")
    assert len(told) <= 2
    assert f"r{500 * FALL_DAY // DAYS}" in told[-1]["releases"]
    assert len(told[-1]["releases"]) < 60


def test_a_quiet_file_says_so(capsys, tmp_path):
    file = write(tmp_path / "scores.csv", "time,value", [row[:2] for row in list_rows(mean_after=0.8)])
    code, out, err = call(capsys, file)
    assert (code, out) == (0, "")
    assert "nothing to tell of 1 stream" in err


def test_a_stream_with_too_few_traces_is_named_and_can_have_a_floor(capsys, tmp_path):
    rows = [(START + n * 8 * 3600, 0.9 if n < 90 else 0.1) for n in range(180)]
    file = write(tmp_path / "scores.csv", "time,value", rows)
    code, out, err = call(capsys, file, "-o", "json")
    assert (code, out) == (0, "")
    assert "scores: not watched: found 21 traces in its first 7 days, expected 500; --floor" in err
    _, out, err = call(capsys, file, "-o", "json", "--floor", ".7")
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["warn", "page"]
    assert err == ""


def test_what_cannot_fall_or_has_no_baseline_yet_is_said(capsys, tmp_path):
    zeros = write(tmp_path / "a.csv", "time,value", [(row[0], 0) for row in list_rows()])
    assert "so low that no fall could be told" in call(capsys, zeros)[2]
    young = write(tmp_path / "b.csv", "time,value", [row[:2] for row in list_rows(days=4)])
    assert "its 7 baseline days are not over: warnings only" in call(capsys, young)[2]


def test_traces_without_a_value_are_left_out_and_counted(capsys, tmp_path):
    rows = [row[:2] for row in list_rows()]
    file = write(tmp_path / "scores.csv", "time,value", [*rows, (START, ""), (START, "")])
    assert "2 traces without a value, left out" in call(capsys, file)[2]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a first line that names the columns: time,value"),
        ("time\n1\n", "line 1: found 'time', expected a column value"),
        ("time,value,value\n", "line 1: found the column value twice"),
        ("time,value\n5,0.5\n5,1.5\n", "line 3, column value: found '1.5', expected a score from 0 to 1"),
        ("time,value\n5,nan\n", "line 2, column value: found 'nan'"),
        ("time,value\n5,good\n", "line 2, column value: found 'good'"),
        ("time,value\nnoon,1\n", "line 2, column time: found 'noon', expected a time"),
        ("time,value\n1790000000000,1\n", "line 2, column time: found '1790000000000'"),
        ("time,value\n-1,1\n", "line 2, column time: found '-1'"),
        ("time,value\nnan,1\n", "line 2, column time: found 'nan'"),
        ("time,value\n5,1,7\n", "line 2: found 3 fields, expected 2"),
        ('time,value\n"5,1\n', "cannot be read as CSV"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_by_line_and_column(capsys, tmp_path, text, told):
    (tmp_path / "scores.csv").write_text(text)
    code, out, err = call(capsys, tmp_path / "scores.csv")
    assert (code, out) == (2, "")
    assert told in err
    assert "scores.csv" in err
    assert err.count("\n") == 1


def test_a_file_of_other_bytes_and_one_that_is_not_there_are_told(capsys, tmp_path):
    (tmp_path / "scores.csv").write_bytes(b"time,value\n5,\xff\n")
    assert "found byte 0xff, expected UTF-8" in call(capsys, tmp_path / "scores.csv")[2]
    code, _, err = call(capsys, tmp_path / "none.csv")
    assert code == 2
    assert "none.csv" in err


def test_a_file_of_a_heading_alone_has_no_streams(capsys, tmp_path):
    code, _, err = call(capsys, write(tmp_path / "scores.csv", "time,value", []))
    assert code == 0
    assert "nothing to tell of 0 streams" in err


@pytest.mark.parametrize(
    "option", [("--baseline-days", 0), ("--smallest-drop", 0), ("--floor", 0.001), ("--floor", 1.1)]
)
def test_options_that_make_no_sense_are_refused(capsys, tmp_path, option):
    file = write(tmp_path / "scores.csv", "time,value", [])
    assert call(capsys, file, *option)[0] == 2


def test_a_shorter_baseline_and_a_larger_smallest_drop(capsys, tmp_path):
    file = write(tmp_path / "scores.csv", "time,value", [row[:2] for row in list_rows(mean_after=0.7)])
    assert call(capsys, file, "-o", "json", "--baseline-days", 3)[1].count('"page"') == 1
    assert call(capsys, file, "-o", "json", "--smallest-drop", 0.2)[1] == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "found neither FILE nor --app, expected one of them"),
        (("FILE", "--app", "shop"), "and --app, expected one of them: --app is of what is stored"),
        (("FILE", "--since", "30d"), "and --since, expected one of them: --since is of what is stored"),
        (("FILE", "--judge", "gpt"), "and --judge, expected one of them"),
        (("--app", "shop", "--since", "soon"), "--since: found 'soon', expected how long ago"),
        (("--app", "shop", "--since", "2026-10-02", "--until", "2026-10-01"),
         "--since: found 2026-10-02T00:00, expected a time before 2026-10-01T00:00"),
    ],
)  # fmt: skip
def test_a_file_and_an_app_exclude_each_other(capsys, tmp_path, arguments, told):
    file = write(tmp_path / "scores.csv", "time,value", [(START, 1)])
    code, out, err = call(capsys, *(file if one == "FILE" else one for one in arguments))
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_the_name_of_a_stream_breaks_between_its_parts_only(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    parts = ("context_precision:answer", "recorded@f422db", "demo", "production")
    event = {
        "stream": "/".join(parts), "kind": "warn",
        "at": "2026-11-29T12:05:00Z", "since": "2026-11-29T10:00:00Z",
        "drop": 0.4, "drop_lower": 0.2, "drop_upper": 0.59, "evidence_days": 31.0, "n": 44, "mix_shift": 0.0,
        "worst_strata": [],
    }  # fmt: skip
    print_events([event])
    told = capsys.readouterr().out
    assert all(part in told for part in parts)
