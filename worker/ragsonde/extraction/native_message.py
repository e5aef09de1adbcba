"""How a native message is read: every field says itself what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.findings import Findings, FoundContext, cite
from ragsonde.extraction.judge_calls import is_told_to_judge
from ragsonde_schemas.trace import ContextOrigin, EvaluationWish, FieldEvidence, Reference, Turn

if TYPE_CHECKING:
    from ragsonde_schemas.decoded import DecodedMessage
    from ragsonde_schemas.message import TraceMessage, WireContext, WireReference, WireTurn

_PLAIN_FIELDS = (
    "app", "environment", "release", "variant", "session_id", "user_id", "retrieval_query", "contexts",
    "reference", "model",
)  # fmt: skip


class Conversation(NamedTuple):
    """What `query`, `answer` and `messages` say together.

    Attributes:
        turns: the conversation before the question.
        is_query_given, is_answer_given: the field itself was there, not a turn.
    """

    query: str | None
    answer: str | None
    turns: tuple[Turn, ...]
    is_query_given: bool
    is_answer_given: bool


def find_in_message(record: DecodedMessage) -> Findings:
    """The fields of a native message, each as the producer wrote it."""
    message = record.message
    if not message.contexts and is_told_to_judge(_read_turn(turn) for turn in message.messages or []):
        return Findings(format="native", trace_id=message.trace_id, is_judge_call=True)
    conversation = read_conversation(message)
    warnings = list(record.warnings)
    if message.messages and conversation.query is None:
        warnings.append("messages: no turn with role user, so there is no query")
    return Findings(
        format="native",
        trace_id=message.trace_id,
        event_id=message.event_id,
        app=message.app,
        environment=message.environment,
        release=message.release,
        variant=message.variant,
        session_id=message.session_id,
        user_id=message.user_id,
        claimed_at=message.occurred_at,
        query=conversation.query,
        retrieval_query=message.retrieval_query,
        turns=conversation.turns,
        contexts=_read_contexts(message),
        answer=conversation.answer,
        reference=_read_reference(message.reference),
        model=message.model,
        usage=message.usage or {},
        latency_ms=message.latency_ms,
        cost_usd=message.cost_usd,
        tags=tuple(message.tags or ()),
        metadata=message.metadata or {},
        extra=record.extra,
        wish=_read_wish(message),
        sampling_probability=1.0 if message.sampling_probability is None else message.sampling_probability,
        evidence=_gather_evidence(message, conversation),
        warnings=tuple(warnings),
    )


def read_conversation(message: TraceMessage) -> Conversation:
    """Question, answer and earlier turns.

    The last user turn is the question where none is given, and a last assistant turn after it the answer
    where none is given. Where a question is given that is not the last user turn, all messages are history.
    """
    messages = message.messages or []
    places = reversed(range(len(messages)))
    asked = next((place for place in places if messages[place].role == "user"), None)
    if asked is not None and (
        message.query is None or message.query.strip() == messages[asked].content.strip()
    ):
        history = messages[:asked]
        replies = [turn.content for turn in messages[asked + 1 :] if turn.role == "assistant"]
        query: str | None = messages[asked].content
    else:
        history, replies, query = messages, [], None
    answer = message.answer if message.answer is not None or not replies else replies[-1]
    return Conversation(
        query=message.query if message.query is not None else query,
        answer=answer,
        turns=tuple(_read_turn(turn) for turn in history),
        is_query_given=message.query is not None,
        is_answer_given=message.answer is not None,
    )


def _read_turn(turn: WireTurn) -> Turn:
    return Turn(role=turn.role, content=turn.content)


def _read_contexts(message: TraceMessage) -> tuple[FoundContext, ...] | None:
    if message.contexts is None:
        return None
    given = [message.contexts] if isinstance(message.contexts, str) else message.contexts
    return tuple(_read_context(context) for context in given)


def _read_context(context: WireContext | str) -> FoundContext:
    if isinstance(context, str):
        return FoundContext(context, ContextOrigin.PRODUCER)
    return FoundContext(
        context.content,
        ContextOrigin.PRODUCER,
        id=context.id,
        score=context.score,
        source_uri=context.source_uri,
        metadata=context.metadata,
    )


def _read_reference(given: WireReference | str | None) -> Reference | None:
    if given is None or isinstance(given, str):
        return None if given is None else Reference(answer=given)
    reference = Reference(
        answer=given.answer,
        contexts=tuple(given.contexts or ()),
        context_ids=tuple(given.context_ids or ()),
    )
    return None if reference == Reference() else reference


def _read_wish(message: TraceMessage) -> EvaluationWish:
    wish = message.evaluation
    if wish is None:
        return EvaluationWish()
    return EvaluationWish(
        scorers=None if wish.scorers is None else tuple(wish.scorers), sample_rate=wish.sample_rate
    )


def _gather_evidence(message: TraceMessage, conversation: Conversation) -> dict[str, FieldEvidence]:
    evidence = {name: cite(f"native:{name}") for name in _PLAIN_FIELDS if getattr(message, name) is not None}
    if conversation.query is not None:
        evidence["query"] = cite("native:query" if conversation.is_query_given else "native:messages")
    if conversation.answer is not None:
        evidence["answer"] = cite("native:answer" if conversation.is_answer_given else "native:messages")
    return evidence
