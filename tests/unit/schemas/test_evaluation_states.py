from itertools import product

from ragsonde_schemas.evaluation import LEFT_OUT, REDONE, REOPENINGS, TRANSITIONS, EvaluationState

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


def test_what_has_ended_is_begun_anew_by_a_backfill_or_a_person_and_by_no_run():
    waiting = frozenset({EvaluationState.WAITING})
    assert {EvaluationState.SAMPLED_OUT: waiting, EvaluationState.SHED: waiting} == LEFT_OUT
    ended = {EvaluationState.FAILED, EvaluationState.SCORED, EvaluationState.NOT_EVALUABLE}
    assert dict.fromkeys(ended, waiting) == REDONE
    for state in (*LEFT_OUT, *REOPENINGS, *REDONE):
        assert EvaluationState.WAITING not in TRANSITIONS[state]
    assert not LEFT_OUT.keys() & REOPENINGS.keys()
