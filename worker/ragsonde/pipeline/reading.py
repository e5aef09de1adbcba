"""From a message to records, and from a record to the traces that are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.decoding.table import decode
from ragsonde.extraction.table import build_trace, find_fields
from ragsonde.pipeline.message_account import UNKNOWN_FORMAT
from ragsonde.pipeline.stages import timed
from ragsonde.redaction.records import protect_found
from ragsonde_schemas.errors import DecodeError
from ragsonde_schemas.open_record import FilterCause

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings
    from ragsonde.extraction.mapping import Mappings
    from ragsonde.pipeline.message_account import MessageAccount
    from ragsonde.pipeline.stages import Stages
    from ragsonde.ports import Resolver
    from ragsonde_schemas.decoded import Decoded, Receipt, Record
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.trace import Trace


class Reading(NamedTuple):
    """What is judged of a record.

    Attributes:
        filtered: why there is nothing; None where there is.
    """

    traces: tuple[Trace, ...]
    filtered: FilterCause | None = None


def read_message(envelope: Envelope, stages: Stages, account: MessageAccount) -> Decoded:
    """The records and spans in a message; the account is told of it as received.

    Raises:
        DecodeError: there is none in it.
    """
    try:
        with timed("decoding", stages):
            decoded = decode(envelope, limits=stages.limits, formats=stages.formats)
    except DecodeError:
        account.receive(UNKNOWN_FORMAT)
        raise
    account.receive(decoded.format)
    return decoded


def read_traces(record: Record, stages: Stages, *, receipt: Receipt) -> Reading:
    """The traces in a record; none where it is no trace of a RAG application, or a call of our own judge.

    Raises:
        DecodeError: OVER_LIMIT where the contexts hold more sentences than can be judged.
    """
    with timed("extraction", stages):
        found = find_all(record, mappings=stages.mappings, resolver=stages.resolver)
        for one in found:
            for field in one.mapped_to_nothing:
                stages.sink.on_mapped_to_nothing(field)
        traces = tuple(
            build_trace(one, receipt=receipt, retention_days=stages.retention_days)
            for one in protect_found(found, record, stages.privacy)
        )
    if traces:
        return Reading(traces)
    return Reading((), FilterCause.JUDGE_CALL if found else FilterCause.NOT_RAG)


def find_all(record: Record, *, mappings: Mappings, resolver: Resolver) -> tuple[Findings, ...]:
    """What is known of each trace in a record: by user's function, else mapping, else the format's rules.

    A call of our own judge is left as it is.
    """
    by_rules = find_fields(record)
    found = by_rules or find_fields(record, is_known=bool(mappings.rules))
    if any(one.is_judge_call for one in found):
        return found
    options = mappings.choose_options(found[0]) if found else None
    if options is not None:
        found = find_fields(record, options=options, is_known=True)
    completed = tuple(
        mappings.settle_warnings(resolver.resolve(mappings.apply(one, record), record), record)
        for one in found
    )
    return completed if by_rules else tuple(filter(_says_anything, completed))


def _says_anything(found: Findings) -> bool:
    """True where something that is judged was found, or should have been."""
    return any(field is not None for field in (found.query, found.contexts, found.answer, found.failure))
