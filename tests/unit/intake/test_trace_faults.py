import logging

from ragsonde.intake.delivery_guard import log_trace_fault


def test_a_fault_of_one_trace_is_an_event_with_its_id_and_traceback(caplog):
    error = ValueError("content")
    with caplog.at_level(logging.ERROR):
        log_trace_fault(error, "6ff2cb8a7635c0ce43f51f8457f147df")
    (record,) = caplog.records
    assert record.getMessage() == "trace_failed"
    assert record.trace_id == "6ff2cb8a7635c0ce43f51f8457f147df"
    assert record.exc_info[1] is error
