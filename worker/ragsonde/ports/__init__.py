"""What the pipeline needs of the world; each effect package implements one part of it."""

from ragsonde.ports.judges import Budgets, CheckStore, Judge, PaidJudge, SampleRates
from ragsonde.ports.pages import PageAnswer
from ragsonde.ports.privacy import Redaction, UserKeys
from ragsonde.ports.stores import ParkingStore, SpanBuffer, SuspectStore, TraceStore
from ragsonde.ports.telling import ScoreSink
from ragsonde.ports.watching import Watching
from ragsonde.ports.work import Clock, Insist, Isolation, Resolver

__all__ = [
    "Budgets",
    "CheckStore",
    "Clock",
    "Insist",
    "Isolation",
    "Judge",
    "PageAnswer",
    "PaidJudge",
    "ParkingStore",
    "Redaction",
    "Resolver",
    "SampleRates",
    "ScoreSink",
    "SpanBuffer",
    "SuspectStore",
    "TraceStore",
    "UserKeys",
    "Watching",
]
