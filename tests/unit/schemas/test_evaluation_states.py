from itertools import product

from ragsonde_schemas.evaluation import TRANSITIONS, EvaluationState

DESIGNED = """
waiting -> running
running -> scored, not_evaluable, failed
waiting -> sampled_out, filtered, shed
running -> waiting
"""
"""As in docs/architecture.md; every state but the last may also become superseded."""


def read_designed():
    pairs = {(state.value, "superseded") for state in EvaluationState if state.value != "superseded"}
    for line in DESIGNED.strip().splitlines():
        source, _, targets = line.partition(" -> ")
        pairs |= {(source, target) for target in targets.split(", ")}
    return pairs


def test_the_map_holds_the_designed_transitions_and_no_other():
    found = {
        (source.value, target.value)
        for source, target in product(EvaluationState, EvaluationState)
        if target in TRANSITIONS[source]
    }
    assert found == read_designed()
