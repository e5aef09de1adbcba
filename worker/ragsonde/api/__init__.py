"""Evaluation from Python: the same path from extraction to scoring as the worker's, without any service."""

from ragsonde.api.evaluation import evaluate, score
from ragsonde.api.report import ItemResult, Report, ScoreSummary

__all__ = ["ItemResult", "Report", "ScoreSummary", "evaluate", "score"]
