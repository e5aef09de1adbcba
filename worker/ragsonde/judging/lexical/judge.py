"""The lexical judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.judging.fingerprint import compute_fingerprint
from ragsonde.judging.lexical.case import read_case
from ragsonde.judging.lexical.essential import Candidate, explain_insufficient, pick_essential
from ragsonde.judging.lexical.grounding import find_ungrounded
from ragsonde.judging.lexical.heads import load_weights
from ragsonde.judging.lexical.languages import guess_language, name_pair
from ragsonde.judging.lexical.verdicts import judge_contexts
from ragsonde_schemas.assessment import PER_CONTEXT, Aspect, Assessment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.judging.lexical.case import Case
    from ragsonde.judging.lexical.evidence import Estimate
    from ragsonde.judging.lexical.heads import Weights
    from ragsonde_schemas.trace import Trace

RULES_VERSION = "2"
"""Of everything here that is not a fitted number: raise it whenever verdicts may change."""

_SHARED_ENOUGH = 0.5
"""A context with so much of the question's words can be judged, whatever its language seems to be."""


class LexicalJudge:
    """Compares words: free, offline, deterministic.

    It cannot see missing facts, contradiction, paraphrase without shared words, or across languages.

    Attributes:
        name: as configured.
        fingerprint: changes with the weights, the rules and the splitter.
        is_free: always.
    """

    is_free = True

    def __init__(self, name: str = "lexical") -> None:
        self.name = name
        self._weights = load_weights()
        self.fingerprint = compute_fingerprint("lexical", model=f"{RULES_VERSION}/{self._weights.version}")

    def assess(
        self,
        trace: Trace,
        aspects: frozenset[Aspect],
        *,
        deadline: float | None = None,  # noqa: ARG002 - it takes milliseconds and calls nobody
    ) -> Assessment:
        """Verdicts for `aspects`; `missing` and `statements` are never assessed. Never raises.

        Without a question nothing is relevant.
        """
        case = read_case(trace, weights=self._weights)
        pair = _find_unsupported_pair(case)
        reasons = [f"question and contexts differ in language ({pair}): words cannot tell"] if pair else []
        verdicts: dict[str, Any] = {}
        if aspects & PER_CONTEXT:
            verdicts["contexts"] = judge_contexts(case, aspects=aspects, weights=self._weights)
        if Aspect.ESSENTIAL in aspects:
            candidates, needed = (
                _list_candidates(case),
                self._weights.cut_offs.sufficient[case.answer is not None],
            )
            essential = pick_essential(candidates, targets=_weigh_targets(case), sufficient=needed)
            verdicts["essential"] = essential or ()
            verdicts["insufficient"] = essential is None
            if essential is None:
                reasons.append(explain_insufficient(candidates, sufficient=needed))
        if Aspect.RELEVANT_SENTENCES in aspects:
            verdicts["relevant_sentences"] = _list_relevant_sentences(case, weights=self._weights)
        return Assessment(
            **verdicts,
            head=case.head,
            abstained=case.has_abstained,
            notes={**_note(case), "unsupported_language_pair": pair},
            reason="; ".join(reasons) or None,
        )


def _list_candidates(case: Case) -> list[Candidate]:
    return [
        Candidate(sentence.number, probability, words)
        for context, reading, evidence in zip(case.contexts, case.readings, case.evidence, strict=True)
        for sentence, probability, words in zip(
            context.sentences, evidence.sentences, reading.sentences, strict=False
        )
    ]


def _weigh_targets(case: Case) -> dict[str, float]:
    targets: dict[str, float] = {}
    for probe in (*case.questions, case.answer):
        targets |= probe.weights if probe else {}
    return targets


def _list_relevant_sentences(case: Case, *, weights: Weights) -> tuple[str, ...]:
    least = weights.cut_offs.relevant_sentence[case.answer is not None]
    return tuple(
        sentence.number
        for context, evidence in zip(case.contexts, case.evidence, strict=True)
        for sentence, probability in zip(context.sentences, evidence.sentences, strict=False)
        if probability >= least
    )


def _note(case: Case) -> dict[str, Any]:
    notes: dict[str, Any] = {"query_only": _round(case, [evidence.query_only for evidence in case.evidence])}
    if case.answer is not None:
        notes["query_answer"] = _round(case, [evidence.query_answer for evidence in case.evidence])
    if any(evidence.reference for evidence in case.evidence):
        notes["reference"] = _round(case, [evidence.reference for evidence in case.evidence])
    notes["ungrounded_terms"] = find_ungrounded(
        case.answer_sentences, case.readings, questions=case.questions
    )
    return notes


def _round(case: Case, estimates: Sequence[Estimate | None]) -> dict[str, float]:
    return {
        context.number: round(estimate.probability, 4)
        for context, estimate in zip(case.contexts, estimates, strict=True)
        if estimate is not None
    }


def _find_unsupported_pair(case: Case) -> str | None:
    if any(evidence.query_only.values[0] >= _SHARED_ENOUGH for evidence in case.evidence):
        return None
    return name_pair(
        case.questions[0].language, (guess_language(reading.text, reading.words) for reading in case.readings)
    )
