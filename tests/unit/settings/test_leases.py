from ragsonde.settings import read_settings


def lease(judges):
    return read_settings(environ={"RAGSONDE_JUDGES": judges}).lease_seconds


def test_the_lease_is_the_longest_deadline_of_a_judge_that_calls_somebody_and_30_seconds():
    slow = '{"name": "slow", "kind": "litellm", "model": "openai/x", "deadline_seconds": 10.5}'
    fast = '{"name": "fast", "kind": "litellm", "model": "openai/x", "deadline_seconds": 3}'
    free = '{"name": "lexical", "kind": "lexical"}'
    assert lease(f"[{free}, {fast}, {slow}]") == 41
    assert lease(f"[{free}]") == 150
