"""A package of somebody else's that adds a scorer and a kind of judge."""

from __future__ import annotations

from ragsonde.judging.fingerprint import compute_fingerprint
from ragsonde.scoring.bands import Band
from ragsonde.scoring.formula import Comparison, Computed, Evidence, Formula, Remedy, always
from ragsonde_schemas.assessment import Aspect, Assessment, ContextVerdict, RubricVerdict
from ragsonde_schemas.errors import ConfigError


def compute(trace, assessment, _options):
    """1 where the first context is relevant."""
    first = trace.contexts[0].number
    return Computed(raw=float(assessment.contexts[first].relevant), details={"first": first})


def explain(_trace, _assessment, computed, _options):
    """Whether it is."""
    return f"context {computed.details['first']} is {'relevant' if computed.raw else 'not relevant'}"


FIRST = Formula(
    id="acme_first",
    aliases=("acme:First",),
    display_name="first context",
    origin="Acme",
    compute=compute,
    explain=explain,
    find_needs=always(Aspect.RELEVANT),
    evidence=Evidence.QUESTION,
    bands=(Band(1.0, "hit", "hit"), Band(0.0, "miss", "miss")),
    remedies=(Remedy(sign="misses", evidence="current_score", action="re-rank what was retrieved"),),
    comparison=Comparison(
        question="Is the first context relevant?",
        algorithm="1 or 0",
        relevance="yes or no for the first context",
        position="only the first counts",
        usage="not considered",
        missing="not considered",
        use_cases=("prompts with room for one context",),
    ),
)


class WordJudge:
    """Finds a context relevant where it holds one of the words; gives every rubric its last rating."""

    is_free = True

    def __init__(self, name, *, words, rubrics):
        self.name = name
        self.fingerprint = compute_fingerprint("acme_words", model=" ".join(words))
        self._words = words
        self._rubrics = rubrics

    def assess(self, trace, aspects, *, deadline=None):  # noqa: ARG002 - it takes no time
        """Verdicts by words."""
        contexts = {
            context.number: ContextVerdict(
                relevant=any(word in context.content.casefold() for word in self._words)
            )
            for context in trace.contexts
        }
        ratings = {
            rubric.name: RubricVerdict(rating=rubric.ratings[-1], digest=rubric.digest)
            for rubric in self._rubrics
        }
        return Assessment(
            contexts=contexts if Aspect.RELEVANT in aspects else None,
            rubrics=ratings if Aspect.RUBRICS in aspects else None,
        )


def build_judge(options, *, rubrics):
    """The judge of kind `acme_words`."""
    words = options.options.get("words")
    if not words:
        raise ConfigError("options.words: is missing; expected the words to look for")
    return WordJudge(options.name, words=[word.casefold() for word in words], rubrics=rubrics)
