from ragsonde.resolving.recent_results import RecentResults


def test_a_result_is_found_also_where_it_is_none():
    recent = RecentResults()
    recent.keep("a", None, characters=0)

    assert (recent.find("a"), recent.find("b")) == ((None,), None)


def test_the_result_that_was_used_longest_ago_goes_first():
    recent = RecentResults(results_at_most=2)
    recent.keep("a", 1, characters=1)
    recent.keep("b", 2, characters=1)
    recent.find("a")
    recent.keep("c", 3, characters=1)

    assert [recent.find(key) for key in "abc"] == [(1,), None, (3,)]


def test_results_are_kept_only_as_far_as_there_is_room():
    recent = RecentResults(characters_at_most=10)
    recent.keep("large", 0, characters=6)
    recent.keep("a", 1, characters=5)
    recent.keep("b", 2, characters=5)
    recent.keep("b", 3, characters=4)
    recent.keep("c", 4, characters=2)

    assert [recent.find(key) for key in ("large", "a", "b", "c")] == [None, None, (3,), (4,)]
