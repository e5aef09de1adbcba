"""A RAG application in LangChain, instrumented and exported with stock packages; it knows no ragsonde.

Where its spans go is told by OpenTelemetry's own variables, as in any deployment. Its model is a list of
answers, its index a list of texts. Argument: the question. It prints the answer.
"""

from __future__ import annotations

import sys

from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

TEXTS = (
    ("returns", "A parcel may be returned within thirty days after it arrived."),
    ("postage", "The postage of a return is paid by the shop."),
    ("opening", "The shop in the old town is open from nine to six."),
)
ANSWER = "A parcel may be returned within thirty days after it arrived, and the shop pays the postage."


class Shelf(BaseRetriever):
    """Finds all texts, always."""

    def _get_relevant_documents(self, query, *, run_manager):  # noqa: ARG002 - as the base declares it
        return [Document(page_content=text, id=name, metadata={"query": query}) for name, text in TEXTS]


def build_chain():
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer from this only:\n{context}"), ("human", "{question}")]
    )
    found = Shelf() | (lambda documents: "\n".join(document.page_content for document in documents))
    model = FakeListChatModel(responses=[ANSWER])
    return {"context": found, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()


def main(question):
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    LangChainInstrumentor().instrument(tracer_provider=provider)
    answer = build_chain().invoke(question)
    provider.shutdown()
    print(answer)  # noqa: T201 - for who runs it


if __name__ == "__main__":
    main(sys.argv[1])
