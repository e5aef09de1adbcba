"""`POST /traces`: traces of any known format, one, a JSON array or JSON lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from ragsonde.receiver.advice import describe_fault
from ragsonde.receiver.answers import Answer, Form, name_type, refuse, report
from ragsonde.receiver.items import WHOLE, Item, split_items
from ragsonde.receiver.posted_body import choose_status, examine, unpack
from ragsonde.receiver.remarks import Remarks
from ragsonde.receiver.tally import Outcome
from ragsonde_schemas.errors import BrokerLostError, DecodeError, ParkReason

if TYPE_CHECKING:
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.receiver.publishing import TracePublisher
    from ragsonde.receiver.requests import Request
    from ragsonde.receiver.tally import Tally
    from ragsonde_schemas.decoded import Decoded

_NOTHING = "found nothing but blanks, expected a trace; post one message, a JSON array, or JSON lines"
_NAMELESS_TYPES = frozenset({"application/octet-stream", "application/x-www-form-urlencoded", "text/plain"})
"""What clients send where nobody chose a type: curl's --data-binary says x-www-form-urlencoded."""


@dataclass(frozen=True, kw_only=True)
class AnyTraces:
    """Takes traces: each is a message of its own on the queue."""

    publisher: TracePublisher
    tally: Tally
    limits: DecodingLimits

    def receive(self, request: Request) -> Answer:
        """202 once the broker has confirmed every message that a worker can read, with those it cannot.

        What was mended or not used in the accepted ones, such as a key that nobody knows, is told as well.
        """
        sent_type = name_type(request.head.content_type)
        content_type = None if sent_type in _NAMELESS_TYPES else sent_type or None
        try:
            items = self._find_items(request, content_type=content_type or "")
        except DecodeError as error:
            self.tally.count_messages(Outcome.REFUSED)
            return refuse(Form.JSON, choose_status(error), describe_fault(error, request))
        sorting = self._sort_out(items, request, content_type=content_type)
        self.tally.count_messages(Outcome.REFUSED, sorting.refused_items)
        return self._publish(sorting, content_type=content_type)

    def _find_items(self, request: Request, *, content_type: str) -> list[Item]:
        body, plain = unpack(request.body, encoding=request.head.content_encoding, limits=self.limits)
        if not plain.strip():
            raise DecodeError(ParkReason.EMPTY_BODY, _NOTHING)
        items = split_items(plain, content_type=content_type)
        return [Item(WHOLE, body)] if [item.place for item in items] == [WHOLE] else items

    def _sort_out(self, items: list[Item], request: Request, *, content_type: str | None) -> _Sorting:
        sorting = _Sorting(request)
        for item in items:
            try:
                decoded = examine(item.body, content_type=content_type, limits=self.limits)
            except DecodeError as error:
                sorting.refuse(item, error)
                continue
            if decoded.spans or decoded.records:
                sorting.accept(item, decoded)
            elif decoded.faults:
                sorting.refuse(item, decoded.faults[0])
        return sorting

    def _publish(self, sorting: _Sorting, *, content_type: str | None) -> Answer:
        for count, item in enumerate(sorting.accepted):
            try:
                self.publisher.publish_trace(item.body, content_type=content_type)
            except BrokerLostError as error:
                self.tally.count_messages(Outcome.ACCEPTED, count)
                self.tally.count_messages(Outcome.UNCONFIRMED, len(sorting.accepted) - count)
                problem = (
                    f"{len(sorting.accepted) - count} not accepted, {item.place} the first of them: "
                    f"{error}; send all again, a trace that comes twice is scored once"
                )
                return sorting.report(HTTPStatus.SERVICE_UNAVAILABLE, accepted=count, problem=problem)
        self.tally.count_messages(Outcome.ACCEPTED, len(sorting.accepted))
        is_all_bad = sorting.refused_items > 0 and not sorting.accepted
        status = sorting.worst_status if is_all_bad else HTTPStatus.ACCEPTED
        return sorting.report(status, accepted=len(sorting.accepted))


@dataclass
class _Sorting:
    """The items of a request that a worker can read, and what is wrong with the others."""

    request: Request
    accepted: list[Item] = field(default_factory=list)
    refused: Remarks = field(default_factory=Remarks)
    warnings: Remarks = field(default_factory=Remarks)
    refused_items: int = 0
    worst_status: HTTPStatus = HTTPStatus.BAD_REQUEST

    def accept(self, item: Item, decoded: Decoded) -> None:
        self.accepted.append(item)
        for fault in decoded.faults:
            self.refused.note(item.place, describe_fault(fault, self.request))
        for warning in (*decoded.warnings, *(told for record in decoded.records for told in record.warnings)):
            self.warnings.note(item.place, warning)

    def refuse(self, item: Item, error: DecodeError) -> None:
        self.refused_items += 1
        if item.place == WHOLE:
            self.worst_status = choose_status(error)
        self.refused.note(item.place, describe_fault(error, self.request))

    def report(self, status: HTTPStatus, *, accepted: int, problem: str | None = None) -> Answer:
        return report(
            status, accepted=accepted, refused=self.refused, warnings=self.warnings, problem=problem
        )
