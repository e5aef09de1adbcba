"""Formats of other tools and the rules that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ragsonde.extraction.foreign import (
    dify_message,
    haystack_output,
    langfuse_export,
    langsmith_run,
    litellm_payload,
    llamaindex_response,
    mastra_run,
)

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde_schemas.decoded import ForeignDocument


class FindFields(Protocol):
    """Reads one document; several findings with `per_step`, none where it tells of no question and answer."""

    def __call__(self, document: ForeignDocument, *, options: RetrievalOptions) -> tuple[Findings, ...]:
        """The fields of the document."""


FOREIGN: dict[str, FindFields] = {
    mastra_run.FORMAT: mastra_run.find,
    langfuse_export.FORMAT: langfuse_export.find,
    langsmith_run.FORMAT: langsmith_run.find,
    litellm_payload.FORMAT: litellm_payload.find,
    llamaindex_response.FORMAT: llamaindex_response.find,
    haystack_output.FORMAT: haystack_output.find,
    dify_message.FORMAT: dify_message.find,
}
"""By the name of the format."""
