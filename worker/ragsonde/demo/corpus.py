"""The shop's help pages and what its customers ask, with the sentences that answer it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

APP, ENVIRONMENT = "demo", "production"
_LANGUAGE = "en"


class Question(NamedTuple):
    """Something that customers ask, in several wordings.

    Attributes:
        topic: groups help pages; those of one topic lie together in the index.
        texts: its wordings.
        answers: numbers of the sentences that answer it, from 1, by the ids of the pages that hold them.
    """

    topic: str
    texts: tuple[str, ...]
    answers: Mapping[str, tuple[int, ...]]


class Topic(NamedTuple):
    """Help pages of one subject, by their ids, and the questions that they answer."""

    name: str
    documents: tuple[str, ...]
    questions: tuple[Question, ...]


class Document(NamedTuple):
    """A help page."""

    id: str
    content: str
    source_uri: str


def read_demo_traces() -> list[dict[str, Any]]:
    """The shop's traces of today, as native messages without a time."""
    return [json.loads(line) for line in _read("traces.jsonl").splitlines()]


@cache
def read_topics() -> tuple[Topic, ...]:
    """What the help pages are about, in a fixed order."""
    return tuple(
        Topic(
            topic["topic"],
            tuple(topic["documents"]),
            tuple(
                Question(
                    topic["topic"],
                    tuple(question["texts"]),
                    {page: tuple(numbers) for page, numbers in question["answers"].items()},
                )
                for question in topic["questions"]
            ),
        )
        for topic in json.loads(read_questions())
    )


def read_questions() -> str:
    """The file of the questions: whose verdicts are recorded is known by its digest."""
    return _read("questions.json")


@cache
def read_documents() -> tuple[Document, ...]:
    """The English help pages, as today's traces quote them, by id."""
    found = {
        context["id"]: Document(context["id"], context["content"], context["source_uri"])
        for trace in read_demo_traces()
        if _LANGUAGE in trace["tags"]
        for context in trace["contexts"] or ()
        if isinstance(context, dict)
    }
    return tuple(found[name] for name in sorted(found))


def _read(name: str) -> str:
    return files("ragsonde").joinpath("demo", name).read_text("utf-8")
