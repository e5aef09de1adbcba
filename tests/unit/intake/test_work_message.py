from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from builders.envelopes import wrap
from ragsonde.intake.work_message import read_key, wrap_key, write_key
from ragsonde_schemas.check import CheckKey
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.open_record import OpenRecordKey
from ragsonde_schemas.trace import TraceKey

EVALUATION = EvaluationKey(
    trace=TraceKey(app="shop", trace_id="t", day=date(2026, 6, 15)),
    revision=1,
    judge="lexical",
    fingerprint="0123456789abcdef",
)
GATHERED = OpenRecordKey(trace_id="t")
CHECK = CheckKey(check_id=1, judge="gpt", fingerprint="0123456789abcdef", day=date(2026, 6, 15))


@pytest.mark.parametrize("key", [EVALUATION, GATHERED, CHECK])
def test_a_key_is_read_as_it_was_written(key):
    assert read_key(wrap(write_key(key))) == key
    assert read_key(wrap_key(key)) == key


def test_work_on_a_trace_and_on_its_evaluation_are_parked_apart():
    assert wrap_key(EVALUATION).message_key != wrap_key(GATHERED).message_key


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"trace_id": 7}', b'{"trace_id": "t", "judge": "gpt"}', b"\xff"]
)
def test_what_is_no_key_is_refused(body):
    with pytest.raises(ValidationError):
        read_key(wrap(body))
