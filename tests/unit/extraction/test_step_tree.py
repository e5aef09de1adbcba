from builders.steps import make_step
from ragsonde.extraction.step_tree import StepTree
from ragsonde.extraction.steps import StepKind


def ids(steps):
    return [step.id for step in steps]


def generation(step_id, parent=None, **fields):
    return make_step(step_id, parent, kind=StepKind.GENERATION, **fields)


def test_steps_stand_in_order_of_start_then_end_then_as_given():
    steps = [make_step(1, start=5, end=9), make_step(2, 1, start=5, end=7), make_step(3, start=1)]
    tree = StepTree(steps)
    assert ids(tree.steps) == ["3", "2", "1"]
    assert ids(tree.roots) == ["3", "1"]
    untimed = [make_step(number, start=0, end=0) for number in (7, 3, 5)]
    assert ids(StepTree(untimed).steps) == ["7", "3", "5"]


def test_ancestors_are_nearest_first():
    steps = [make_step(1), make_step(2, 1), make_step(3, 2), make_step(4, 99)]
    tree = StepTree(steps)
    assert ids(tree.ancestors(steps[2])) == ["2", "1"]
    assert ids(tree.ancestors(steps[3])) == []


def test_the_entry_is_the_outermost_step_that_a_convention_knows():
    web = make_step(1, convention="")
    assert StepTree([web, make_step(2, 1), make_step(3, 2)]).entry.id == "2"
    assert StepTree([web]).entry is None
    assert StepTree([]).entry is None


def test_a_step_marked_as_entry_goes_before_what_stands_above_it():
    assert StepTree([make_step(1), make_step(2, 1, is_entry=True)]).entry.id == "2"


def test_of_several_outermost_steps_a_whole_run_goes_before_a_single_retrieval_or_generation():
    retriever = make_step(2, 1, kind=StepKind.RETRIEVER)
    web = make_step(1, convention="")
    assert StepTree([web, retriever, generation(3, 1), make_step(4, 1)]).entry.id == "4"
    assert StepTree([web, retriever, generation(3, 1)]).entry.id == "2"
    silent, full = make_step(3, 1), make_step(4, 1, question="q", answer="a")
    assert StepTree([web, silent, full]).entry.id == "4"


def test_a_root_goes_before_a_step_whose_parent_is_missing():
    lost = make_step(2, 99, question="q", answer="a", start=1)
    assert StepTree([lost, make_step(3)]).entry.id == "3"
    web, full = make_step(1, convention=""), make_step(4, 1, question="q", answer="a")
    assert StepTree([lost, web, full]).entry.id == "4"
    assert StepTree([lost, web, make_step(4, 1)]).entry.id == "2"


def test_what_a_check_does_is_a_part_of_it():
    check = make_step(2, 1, kind=StepKind.CHECK, question="q", answer="a")
    tree = StepTree([make_step(1, convention=""), check, make_step(3, 2), generation(4, 3)])
    assert (tree.entry, tree.exit, tree.final_generation) == (None, None, None)


def test_what_a_check_retrieves_reached_nobody():
    check = make_step(3, 1, kind=StepKind.CHECK)
    found = make_step(4, 3, kind=StepKind.RETRIEVER)
    tree = StepTree([make_step(1), make_step(2, 1, kind=StepKind.RETRIEVER), check, found])
    assert [step.kind for step in tree.steps[1:]] == [StepKind.RETRIEVER, StepKind.CHECK, StepKind.CHECK]


def test_a_check_around_all_of_a_trace_that_retrieves_is_its_run():
    guard = make_step(2, 1, kind=StepKind.CHECK, question="q", answer="a")
    found = make_step(3, 2, kind=StepKind.RETRIEVER)
    tree = StepTree([make_step(1, convention=""), guard, found, generation(4, 2, answer="a")])
    assert (tree.entry.id, tree.final_generation.id) == ("2", "4")
    assert tree.steps[2].kind is StepKind.RETRIEVER


def test_the_final_generation_is_the_last_one_that_said_what_was_answered():
    root = make_step(1, answer="14 days.\n")
    steps = [
        generation(number, 1, answer=text) for number, text in enumerate(("14 days.", "14 days.", "x"), 2)
    ]
    assert StepTree([root, *steps]).final_generation.id == "3"
    wrapper = generation(2, 1, answer="14 days.", end=90)
    inner = [generation(3, 2, answer=""), generation(4, 2, answer="14 days."), generation(5, 2, answer="x")]
    assert StepTree([root, wrapper, *inner]).final_generation.id == "4"


def test_of_a_silent_run_the_first_generation_that_the_last_retrieval_reached_is_final():
    root, found = make_step(1), make_step(3, 1, kind=StepKind.RETRIEVER, question="q")
    rewrite, final, more = (
        generation(2, 1, answer="q"),
        generation(4, 1, answer="a"),
        generation(6, 1, answer="1."),
    )
    assert StepTree([root, rewrite, found, final, more]).final_generation.id == "4"
    assert StepTree([root, rewrite, final, more]).final_generation.id == "6"
    ranking = (
        make_step(5, 1, kind=StepKind.RERANKER, end=56),
        generation(5.5, 5, answer="2, 1", start=51, end=56),
    )
    assert StepTree([root, found, *ranking, more]).final_generation.id == "6"
    call, tool = generation(2, 1, answer=""), make_step(3, 1, kind=StepKind.TOOL)
    assert StepTree([root, call, tool, final, more]).final_generation.id == "4"
    loop = generation(4, 1, answer="a", end=59)
    inside = (
        generation(4.1, 4, answer=""),
        make_step(4.5, 4, kind=StepKind.TOOL),
        generation(5, 4, answer="a"),
    )
    assert StepTree([root, loop, *inside, more]).final_generation.id == "5"


def test_generations_whose_links_are_lost_are_those_of_the_root():
    assert StepTree([make_step(1, answer="a"), generation(2, 99, answer="a")]).final_generation.id == "2"


def test_the_final_generation_is_the_one_that_ended_last():
    assert StepTree([generation(1, end=90), generation(2, end=40)]).final_generation.id == "1"
    assert StepTree([make_step(1)]).final_generation is None


def test_a_generation_that_wraps_others_hands_on_to_the_last_of_them():
    steps = [generation(1, end=90), generation(2, 1, end=30), make_step(4, 1), generation(3, 4, end=60)]
    assert StepTree([*steps, generation(5, end=70)]).final_generation.id == "3"


def test_a_generation_that_wraps_only_other_work_is_final_itself():
    tool = make_step(2, 1, kind=StepKind.TOOL)
    assert StepTree([generation(0, end=5), generation(1, end=90), tool]).final_generation.id == "1"


def test_the_outermost_carriers_of_a_fact_have_none_above_them():
    steps = [
        make_step(1),
        make_step(2, 1, facts={"cost_usd": 1.0}),
        make_step(3, 2, facts={"cost_usd": 0.5}),
        make_step(4, 1, facts={"cost_usd": 0.25}),
    ]
    assert ids(StepTree(steps).find_outermost_carriers("cost_usd")) == ["2", "4"]
