import json
import logging

import pytest

from builders.private_texts import EMAIL
from ragsonde.event_log import (
    LONGEST_FIELD,
    LONGEST_TRACEBACK,
    JsonFormatter,
    TextFormatter,
    build_formatter,
    cut,
    format_traceback,
)
from ragsonde.settings import Settings
from ragsonde.text_redaction import build_cover
from ragsonde_schemas.errors import DatabaseLostError


def make_record(**fields):
    record = logging.LogRecord("ragsonde.x", logging.WARNING, __file__, 1, "something_happened", None, None)
    vars(record).update(fields)
    return record


def raise_and_catch():
    try:
        try:
            int("the text of a trace")
        except ValueError as error:
            raise DatabaseLostError("Postgres is away") from error
    except DatabaseLostError as error:
        return type(error), error, error.__traceback__


def test_an_event_is_one_json_object_with_its_fields():
    event = json.loads(JsonFormatter().format(make_record(trace_id="t-1", seconds=0.5)))
    assert (event["event"], event["level"], event["trace_id"], event["seconds"]) == (
        "something_happened",
        "warning",
        "t-1",
        0.5,
    )


def test_text_shows_the_same_on_one_line():
    line = TextFormatter().format(make_record(trace_id="t-1"))
    assert line.endswith("warning something_happened trace_id=t-1")


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_a_traceback_shows_the_place_and_our_own_words_but_no_content(formatter):
    shown = formatter.format(make_record(exc_info=raise_and_catch()))
    assert "raise_and_catch" in shown
    assert "builtins.ValueError" in shown
    assert "DatabaseLostError: Postgres is away" in shown
    assert "invalid literal" not in shown


def test_the_first_error_of_a_chain_comes_first():
    shown = format_traceback(raise_and_catch())
    assert shown.index("ValueError") < shown.index("DatabaseLostError")


@pytest.mark.parametrize("log_format", ["json", "text"])
@pytest.mark.parametrize("place", ["msg", "problems", "exc_info"])
def test_what_is_cut_is_covered_before_so_that_no_half_of_an_address_stays(log_format, place):
    formatter = build_formatter(log_format, build_cover(Settings(redaction={"patterns": ["email"]})))
    longest = LONGEST_TRACEBACK if place == "exc_info" else LONGEST_FIELD
    named = "ragsonde_schemas.errors.DatabaseLostError: " if place == "exc_info" else ""
    words = "x" * (longest // 2 - len(named) - 8) + f" {EMAIL} and" + " y" * longest
    error = DatabaseLostError(words)
    given = (type(error), error, None) if place == "exc_info" else words
    line = formatter.format(make_record(**{place: given}))
    assert "characters left out" in line
    assert EMAIL[:6] not in line


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_a_line_is_of_bounded_length_whatever_a_producer_or_a_driver_says(formatter):
    record = logging.makeLogRecord(
        {
            "msg": "m" * 50_000,
            "levelname": "INFO",
            "trace_id": "t" * 1_000_000,
            "problems": ["p" * 1_000_000],
            "count": 7,
        }
    )
    line = formatter.format(record)
    assert len(line) < 10_000
    assert "998000 characters left out" in line
    assert "7" in line


def test_what_is_cut_keeps_its_beginning_and_its_end():
    assert cut("a" * 10 + "b" * 100 + "c" * 10, 20) == (
        "a" * 10 + "... 100 characters left out ..." + "c" * 10
    )
    assert cut("short", 20) == "short"
