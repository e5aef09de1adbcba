"""The table of formulas: what each computes, needs and means. Read it from top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.scoring import (
    context_position,
    context_precision,
    context_relevance,
    essential_context,
    statement_relevancy,
)
from ragsonde.scoring.bands import LOW, NOTHING_RELEVANT, SHARE_BANDS, Band
from ragsonde.scoring.formula import Comparison, Direction, Evidence, Formula, Remedy
from ragsonde.scoring.instances import read_instances
from ragsonde.scoring.remedies import EMBEDDINGS, FILTER, SMALLER_PIECES, SMALLER_TOP_K
from ragsonde.scoring.scorer import Scorer
from ragsonde.scoring.wider_table import WIDER_FORMULAS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_FORMULAS: tuple[Formula, ...] = (
    Formula(
        id="context_position",
        aliases=("mastra:ContextPositionMetric",),
        display_name="position",
        origin="Mastra, legacy API",
        compute=context_position.compute,
        explain=context_position.explain,
        find_needs=context_position.find_needs,
        evidence=Evidence.ANSWER,
        bands=SHARE_BANDS,
        is_default=True,
        remedies=(FILTER, SMALLER_TOP_K),
        comparison=Comparison(
            question="What share of the position weight is relevant?",
            algorithm="weights 1/(rank + 1), relevant weight over all weight",
            relevance="yes or no for each context, towards question and answer",
            position="earlier ranks weigh more; moves with the number of contexts",
            usage="not considered",
            missing="not considered",
            use_cases=(
                "prompts whose first contexts count most",
                "retrieval that should return nothing irrelevant",
                "comparison at a fixed number of contexts",
            ),
        ),
    ),
    Formula(
        id="context_precision",
        aliases=("mastra:createContextPrecisionScorer",),
        display_name="precision",
        origin="Mastra",
        compute=context_precision.compute,
        explain=context_precision.explain,
        find_needs=context_precision.find_needs,
        evidence=Evidence.REFERENCE_OR_ANSWER,
        bands=(
            Band(0.9, "excellent", "excellent: the relevant contexts are on top"),
            Band(0.7, "good", "good: most relevant contexts are high"),
            Band(0.4, "moderate", "moderate: irrelevant contexts stand before relevant ones"),
            LOW,
            NOTHING_RELEVANT,
        ),
        is_default=True,
        remedies=(
            Remedy(
                sign="precision is low while something is relevant",
                evidence="which contexts are relevant, in `ragsonde why`",
                action="re-rank what was retrieved",
            ),
            EMBEDDINGS,
        ),
        comparison=Comparison(
            question="Is the right thing on top, whatever else is there?",
            algorithm="average precision over the relevant ranks",
            relevance="yes or no for each context, towards the reference, else question and answer",
            position="decisive; blind to an irrelevant tail",
            usage="not considered",
            missing="not considered",
            use_cases=("ranking and re-ranking", "comparison of retrievers", "traces with reference answers"),
        ),
    ),
    Formula(
        id="context_relevance",
        aliases=("mastra:createContextRelevanceScorerLLM",),
        display_name="weighted relevance",
        origin="Mastra",
        compute=context_relevance.compute,
        explain=context_relevance.explain,
        find_needs=context_relevance.find_needs,
        optional=context_relevance.OPTIONAL,
        own_options=(context_relevance.PENALTIES,),
        evidence=Evidence.ANSWER,
        bands=(
            Band(0.9, "excellent", "excellent: relevant, used, nothing lacking"),
            Band(0.7, "good", "good: mostly relevant and used"),
            Band(0.4, "mixed", "mixed: irrelevant, unused or lacking parts"),
            Band(0.2, "poor", "poor: little of it helps"),
            Band(0.0, "very_poor", "very poor: hardly anything helps"),
        ),
        is_default=True,
        remedies=(
            FILTER,
            Remedy(
                sign="highly relevant contexts go unused",
                evidence="contexts of level high, not used, in `ragsonde why`",
                action="change the prompt, so that the answer draws on them",
            ),
            Remedy(
                sign="items are missing",
                evidence="current_score: missing in details",
                action="add what is missing to the index",
            ),
            EMBEDDINGS,
            Remedy(
                sign="the penalties do not match what you tolerate",
                evidence="current_score: base, penalties and counts in details",
                action="change penalties, `ragsonde evaluate` the file again",
            ),
        ),
        comparison=Comparison(
            question="Does the answer use what was found, and what was lacking?",
            algorithm="mean weight of the levels, less penalties",
            relevance="high, medium, low or none for each context",
            position="not considered",
            usage="highly relevant contexts that go unused cost",
            missing="each missing item costs, up to a cap",
            use_cases=("quality of the whole retrieval", "finding gaps in the index", "tuning the prompt"),
        ),
    ),
    Formula(
        id="essential_context",
        aliases=("promptfoo:context-relevance",),
        display_name="essential share",
        origin="promptfoo",
        compute=essential_context.compute,
        explain=essential_context.explain,
        find_needs=essential_context.find_needs,
        own_options=(essential_context.UNITS,),
        evidence=Evidence.QUESTION,
        direction=Direction.TARGET,
        is_rounded=False,
        bands=(
            Band(0.8, "very_focused", "very focused or minimal retrieval"),
            Band(0.3, "mixed", "mixed, often ideal"),
            Band(0.0, "mostly_not_essential", "mostly not essential: may still be good retrieval"),
        ),
        is_default=True,
        remedies=(SMALLER_TOP_K, SMALLER_PIECES),
        comparison=Comparison(
            question="How much of the text was needed?",
            algorithm="groups with an essential sentence over all groups",
            relevance="essential or not, by sentence, line or context",
            position="not considered",
            usage="not considered",
            missing="contexts that do not suffice give 0",
            use_cases=("cost of the prompt", "size of the retrieved pieces", "change against its own past"),
        ),
    ),
    Formula(
        id="statement_relevancy",
        aliases=("mastra:ContextRelevancyMetric",),
        display_name="relevant statements (share)",
        origin="Mastra, legacy API",
        compute=statement_relevancy.compute,
        explain=statement_relevancy.explain,
        find_needs=statement_relevancy.find_needs,
        own_options=(statement_relevancy.STATEMENTS,),
        evidence=Evidence.QUESTION,
        bands=SHARE_BANDS,
        is_default=True,
        remedies=(SMALLER_PIECES, FILTER),
        comparison=Comparison(
            question="How much of the text is on the subject?",
            algorithm="relevant statements over all statements, pooled over contexts",
            relevance="yes or no for each sentence, towards the question",
            position="not considered",
            usage="not considered",
            missing="not considered",
            use_cases=("noise inside the contexts", "how sources are cut for the index"),
        ),
    ),
)
"""On where nothing is configured."""

FORMULAS: tuple[Formula, ...] = (*DEFAULT_FORMULAS, *WIDER_FORMULAS)


def find_formula(name: str, *, formulas: Sequence[Formula] = FORMULAS) -> Formula | None:
    """The formula of that id or alias, or None; of one that is configured as `id:name` for any name."""
    by_id = next((formula for formula in formulas if name in (formula.id, *formula.aliases)), None)
    if by_id is not None:
        return by_id
    prefix = name.partition(":")[0]
    return next((formula for formula in formulas if formula.is_named and formula.id == prefix), None)


def build_scorers(
    config: Mapping[str, Mapping[str, object] | None] | None, *, formulas: Sequence[Formula] = FORMULAS
) -> tuple[Scorer, ...]:
    """The scorers of the configuration's `scorers:`, in its order.

    Args:
        config: instance name -> options; `scorer:` among them names the formula by id or alias, its default
            is the instance's name. None gives the formulas that are on by default, with their defaults.
        formulas: all that there are: ours, and those of installed packages.

    Raises:
        ConfigError: with every problem found, each naming its place and the nearest valid name.
    """
    if config is None:
        return tuple(Scorer(formula.id, formula) for formula in formulas if formula.is_default)
    return read_instances(config, formulas=formulas)
