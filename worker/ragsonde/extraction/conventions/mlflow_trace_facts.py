"""What MLflow says of a whole trace: session, user, tags, expectations; on its root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_facts import collect_facts, read_reference
from ragsonde.extraction.conventions.recorded_values import (
    find_names,
    read_object,
    read_prefixed,
    read_value,
)

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Found
    from ragsonde_schemas.trace import Reference

_NAME = "mlflow"
_OWN = "mlflow."
_METADATA_NAMES = {
    "session_id": ("mlflow.trace.session",),
    "user_id": ("mlflow.trace.user",),
}
_TAG_NAMES = {
    "environment": ("env", "environment"),
    "release": ("release", "version"),
    "app": ("app",),
}
_SPAN_NAMES = {
    "session_id": ("session.id",),
    "user_id": ("user.id",),
}
_COMMIT = {"release": ("mlflow.source.git.commit",)}


def find_trace_facts(attributes: dict[str, Any]) -> dict[str, Found]:
    """The facts that stand in a trace's `info`, or that a root carries by OTLP."""
    stated = read_object(attributes.get("mlflow.info.trace_metadata"))
    tags = {
        **read_prefixed(attributes, "mlflow.traceTag."),
        **read_object(attributes.get("mlflow.info.tags")),
    }
    metadata = {key: value for key, value in (stated | tags).items() if not key.startswith(_OWN)}
    return {
        **find_names(stated, _COMMIT, convention=f"{_NAME}:trace_metadata", is_exact=False),
        **find_names(tags, _TAG_NAMES, convention=f"{_NAME}:tags"),
        **find_names(attributes, _SPAN_NAMES, convention=_NAME),
        **find_names(stated, _METADATA_NAMES, convention=f"{_NAME}:trace_metadata"),
        **collect_facts(
            {
                "reference": ("assessments", _read_expectations(attributes.get("mlflow.info.assessments"))),
                "metadata": ("trace_metadata", metadata),
            },
            convention=_NAME,
        ),
    }


def _read_expectations(recorded: object) -> Reference | None:
    """What people expect of the trace, by the names that MLflow's own judges use, else the only one."""
    assessments = read_value(recorded)
    expected: dict[str, Any] = {}
    for assessment in assessments if isinstance(assessments, list) else []:
        if not isinstance(assessment, dict) or assessment.get("valid") is False:
            continue
        name = assessment.get("assessment_name", assessment.get("name"))
        value = _read_expectation(assessment.get("expectation"))
        if isinstance(name, str) and value is not None:
            expected[name] = value
    facts = expected.get("expected_facts")
    if isinstance(facts, list) and "expected_response" not in expected:
        expected["expected_response"] = "\n".join(fact for fact in facts if isinstance(fact, str))
    reference = read_reference(expected)
    if reference is None and len(expected) == 1:
        return read_reference(next(iter(expected.values())))
    return reference


def _read_expectation(recorded: object) -> object:
    expectation = read_object(recorded)
    serialized = expectation.get("serialized_value")
    value = serialized.get("value") if isinstance(serialized, dict) else expectation.get("value")
    return read_value(value)
