from datetime import UTC, datetime

import pytest

from ragsonde.extraction.sentences import number_sentences
from ragsonde.judging.lexical.judge import LexicalJudge
from ragsonde_schemas.trace import Context, Extraction, Reference, Trace


@pytest.fixture(scope="session")
def judge():
    return LexicalJudge()


@pytest.fixture(scope="session")
def make_trace():
    def make(query, contents, *, answer=None, reference=None, retrieval_query=None):
        return Trace(
            trace_id="t-1",
            occurred_at=datetime(2024, 5, 1, tzinfo=UTC),
            query=query,
            retrieval_query=retrieval_query,
            answer=answer,
            reference=Reference(answer=reference) if reference is not None else None,
            contexts=tuple(
                Context(
                    rank=rank,
                    content=content,
                    sentences=number_sentences(content, context_number=str(rank + 1)),
                )
                for rank, content in enumerate(contents)
            ),
            content_hash="h",
            extraction=Extraction(format="native"),
        )

    return make
