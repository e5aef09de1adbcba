"""Other tools' JSON, decoded and read."""

from ragsonde.decoding import (
    dify_message,
    haystack_output,
    langfuse_export,
    langsmith_run,
    litellm_payload,
    llamaindex_response,
    mastra_run,
)
from ragsonde.decoding.json_text import JsonDocument
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import JSON_FORMATS
from ragsonde.extraction.foreign.table import FOREIGN
from ragsonde.extraction.options import RetrievalOptions

DECODERS = {
    "mastra_run": (mastra_run.is_mastra_run, mastra_run.decode_mastra_run),
    "langfuse_export": (langfuse_export.is_langfuse_export, langfuse_export.decode_langfuse_export),
    "langsmith_run": (langsmith_run.is_langsmith_run, langsmith_run.decode_langsmith_run),
    "litellm_payload": (litellm_payload.is_litellm_payload, litellm_payload.decode_litellm_payload),
    "llamaindex_response": (
        llamaindex_response.is_llamaindex_response,
        llamaindex_response.decode_llamaindex_response,
    ),
    "haystack_output": (haystack_output.is_haystack_output, haystack_output.decode_haystack_output),
    "dify_message": (dify_message.is_dify_message, dify_message.decode_dify_message),
}
"""By name: the function that recognises a format and the one that decodes it."""

QUESTION = "How long does a refund take?"
ANSWER = "A refund takes 14 days."
TEXTS = ("A refund is issued within 14 days.", "Shipping takes three days.")


PART_FINDERS = {row.name: row.find_part for row in JSON_FORMATS if row.find_part is not None}


def name_formats(value):
    """The formats that take `value`, or something in a list, for theirs."""
    if isinstance(value, list):
        return [name for name, find in PART_FINDERS.items() if any(find(item) is not None for item in value)]
    return [name for name, (recognises, _) in DECODERS.items() if recognises(value)]


def decode_value(value, *, mended=(), **limits):
    """What the one format that recognises `value` decodes it to."""
    (name,) = name_formats(value)
    return DECODERS[name][1](JsonDocument(value, mended), DecodingLimits(**limits))


def find_all(value, **options):
    """The findings of all records in `value`, in order."""
    return [
        findings
        for record in decode_value(value).records
        for findings in FOREIGN[record.format](record, options=RetrievalOptions(**options))
    ]


def find_one(value, **options):
    """The findings of a value that holds one record."""
    (findings,) = find_all(value, **options)
    return findings


def list_contexts(findings):
    """Id, text and score of each context; None where they are unknown."""
    if findings.contexts is None:
        return None
    return [(context.id, context.content, context.score) for context in findings.contexts]


def get_rule(findings, field):
    """The rule that found a field."""
    return findings.evidence[field].rule
