from google.rpc.status_pb2 import Status
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from ragsonde.receiver.otlp_wire import write_partial_success, write_status


@given(st.integers(0, 2**31 - 1), st.text())
def test_a_status_reads_back_with_the_library_of_google(code, message):
    assert Status.FromString(write_status(code, message)) == Status(code=code, message=message)


@given(st.integers(0, 2**62), st.text())
def test_a_partial_success_reads_back_with_the_library_of_opentelemetry(rejected, message):
    expected = ExportTraceServiceResponse()
    expected.partial_success.rejected_spans = rejected
    expected.partial_success.error_message = message
    assert ExportTraceServiceResponse.FromString(write_partial_success(rejected, message)) == expected
