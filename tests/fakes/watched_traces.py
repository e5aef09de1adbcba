"""Traces in real stores, for tests of what people watch."""

from __future__ import annotations

from fakes.evaluations import make_assessment, make_result, make_trace, plan_free, plan_paid
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.watched import Place

SHOP = Place(app="shop", environment="production")


def admit(stores, trace_id, *, raw=0.5, insufficient=False, version="1:answer", plan=None, **fields):
    """A trace that the free judge scored with this raw value; `plan` changes its evaluation."""
    assessment = make_assessment().model_copy(update={"insufficient": insufficient})
    result = make_result(raw=raw, assessment=assessment)
    outcomes = tuple(
        one.model_copy(update={"version": version}) if one.scorer == "context_precision" else one
        for one in result.outcomes
    )
    result = result.model_copy(update={"outcomes": outcomes})
    planned = plan_free().model_copy(update={"result": result, **(plan or {})})
    return stores.traces.admit(make_trace(trace_id, **{"environment": "production", **fields}), (planned,))


def leave_empty(stores, trace_id, **fields):
    """A trace whose retrieval returned nothing."""
    result = make_result(EvaluationState.NOT_EVALUABLE).model_copy(update={"cause": Cause.EMPTY_RETRIEVAL})
    planned = plan_free().model_copy(update={"state": EvaluationState.NOT_EVALUABLE, "result": result})
    return stores.traces.admit(make_trace(trace_id, **{"environment": "production", **fields}), (planned,))


def leave(stores, trace_id, state, **fields):
    """A trace whose paid evaluation stands so."""
    result = make_result(state) if state is EvaluationState.FAILED else None
    planned = plan_paid().model_copy(update={"state": state, "result": result})
    return stores.traces.admit(make_trace(trace_id, **{"environment": "production", **fields}), (planned,))


def find_precision(place):
    """The streams of precision, in order."""
    return [one for one in place.scorers if one.stream.scorer == "context_precision"]
