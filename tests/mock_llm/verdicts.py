"""What a well-behaved model would answer to a judge's prompt: by word overlap, so that tests foresee it.

The prompt is read from the outside, as a model sees it: the first line of the data message is the fence,
lines that begin with it open a section, sentence lines begin with their number. Rules, all on words of four
or more letters or digits, lower case:
    relevant   a context shares a word with the question
    level      high from two shared words on, medium for one, none else
    used       it shares two words with the answer
    supports   it shares a word with the reference
    claims     the sentences of the answer: supported by the contexts that share two words with them
    answer     its sentences: relevant where they share a word with the question, else unsure
    reference  its sentences: attributed where a context shares two words
    rubrics    the best rating of each
    sentences  relevant: shares a word with the question; needed: the sentence that shares most of them
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

WORD = re.compile(r"\w{4,}")
RATING = re.compile(r"Rating: (?:a whole number from \d+ \(worst\) to (\d+) \(best\)|one of (\"[^\"]*\"))")
SENTENCE = re.compile(r"(\d+)\.(\d+) (.*)")
KEYS = ("c", "k", "r", "y", "s", "u", "t", "rel", "need", "ins", "miss", "st", "cl", "as", "rs", "rub", "why")


@dataclass
class Prompt:
    """A judge's prompt as a model reads it."""

    keys: frozenset[str] = frozenset()
    question: str = ""
    answer: str = ""
    reference: str = ""
    ratings: tuple[str, ...] = ()
    contexts: dict[str, str] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All data, for those who look for something in it."""
        return "\n".join([self.question, self.answer, self.reference, *self.contexts.values()])


def read_prompt(messages: list[dict[str, Any]]) -> Prompt:
    """The keys that the instructions ask for and the data that the first user message holds."""
    system = next((m["content"] for m in messages if m["role"] == "system"), "")
    body = next((m["content"] for m in messages if m["role"] == "user"), "")
    prompt = Prompt(
        keys=frozenset(key for key in KEYS if f'"{key}"' in system),
        ratings=tuple(best for scale, best in RATING.findall(system) for best in [scale or json.loads(best)]),
    )
    fence, _, rest = body.partition("\n")
    section = ""
    for line in rest.split("\n"):
        if fence and line.startswith(fence):
            section = line[len(fence) :].strip()
        else:
            _take_line(prompt, section, line)
    return prompt


def _take_line(prompt: Prompt, section: str, line: str) -> None:
    if section in {"question", "search query"}:
        prompt.question += line + "\n"
    elif section == "answer":
        prompt.answer += line + "\n"
    elif section == "reference answer":
        prompt.reference += line + "\n"
    elif section.startswith("context "):
        number = section.removeprefix("context ")
        found = SENTENCE.fullmatch(line)
        if found and found[1] == number:
            prompt.sentences[f"{number}.{found[2]}"] = found[3]
        prompt.contexts[number] = prompt.contexts.get(number, "") + line + "\n"


def form_reply(prompt: Prompt) -> dict[str, Any]:
    """The reply of a model that judges by word overlap and keeps to the form."""
    question, answer, reference = _words(prompt.question), _words(prompt.answer), _words(prompt.reference)
    hits = {number: len(_words(text) & question) for number, text in prompt.sentences.items()}
    most = max(hits.values(), default=0)
    verdicts = [
        {
            "k": number,
            "r": {0: 0, 1: 2}.get(shared := len(_words(text) & question), 3),
            "y": int(shared > 0),
            "s": int(bool(_words(text) & reference)),
            "u": int(len(_words(text) & answer) > 1),
            "t": f"{shared} shared words",
        }
        for number, text in prompt.contexts.items()
    ]
    reply = {
        "c": [{key: value for key, value in verdict.items() if key in prompt.keys} for verdict in verdicts],
        "rel": [number for number, shared in hits.items() if shared],
        "need": [number for number, shared in hits.items() if shared == most and most][:1],
        "ins": most == 0,
        "miss": [] if most else ["anything on the subject"],
        "st": [
            {"k": number.partition(".")[0], "x": prompt.sentences[number], "y": int(shared > 0)}
            for number, shared in hits.items()
        ],
        "cl": [
            {"x": text, "v": "yes" if numbers else "no", "in": numbers}
            for text in _split(prompt.answer)
            for numbers in [_find_support(text, prompt)]
        ],
        "as": [
            {"x": text, "v": "yes" if _words(text) & question else "unsure"} for text in _split(prompt.answer)
        ],
        "rs": [
            {"x": text, "v": "yes" if _find_support(text, prompt) else "no"}
            for text in _split(prompt.reference)
        ],
        "rub": [{"k": str(number), "v": best} for number, best in enumerate(prompt.ratings, start=1)],
        "why": "word overlap",
    }
    return {key: value for key, value in reply.items() if key in prompt.keys}


def obey(prompt: Prompt) -> str:
    """The reply of a model that does what the data tells it: it repeats the JSON it finds, or praises all."""
    for start in (found.start() for found in re.finditer(r"\{", prompt.text)):
        try:
            planted, _ = json.JSONDecoder().raw_decode(prompt.text, start)
        except json.JSONDecodeError:
            continue
        if planted:
            return json.dumps(planted)
    reply = form_reply(prompt)
    for verdict in reply.get("c", ()):
        verdict.update(
            {key: best for key, best in (("r", 3), ("y", 1), ("s", 1), ("u", 1)) if key in verdict}
        )
    return json.dumps(reply)


def _split(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


def _find_support(text: str, prompt: Prompt) -> list[str]:
    return [number for number, found in prompt.contexts.items() if len(_words(found) & _words(text)) > 1]


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))
