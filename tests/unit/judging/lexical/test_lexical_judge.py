import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragsonde.judging.lexical.judge import LexicalJudge
from ragsonde_schemas.assessment import Aspect, Assessment, ContextVerdict, Level
from ragsonde_schemas.trace import Extraction, Trace

ALL = frozenset(Aspect)

# question, answer, the context that holds it, a context about something near, one about another thing
QUESTIONS = {
    "en": (
        "When was the Eiffel Tower completed?",
        "The Eiffel Tower was completed in March 1889.",
        "Work on the Eiffel Tower began in 1887. The tower was completed in March 1889 for the World's Fair.",
        "The Louvre is the most visited museum of the city. It holds the Mona Lisa.",
        "Photosynthesis turns light into chemical energy inside the leaves of plants.",
    ),
    "de": (
        "Wie hoch ist die Zugspitze?",
        "Die Zugspitze ist 2962 Meter hoch.",
        "Bei Garmisch liegt die Zugspitze. Die Zugspitze ist 2962 Meter hoch.",
        "Der Brocken ist die höchste Erhebung im Harz. Dort fährt eine Dampfbahn.",
        "Die Photosynthese wandelt Licht in chemische Energie um.",
    ),
    "es": (
        "¿Quién pintó el cuadro Las meninas?",
        "Las meninas fue pintado por Diego Velázquez.",
        "Las meninas es un cuadro que pintó Diego Velázquez en 1656. Se conserva en el Museo del Prado.",
        "El Museo Reina Sofía conserva obras del siglo XX. Está en Madrid.",
        "La fotosíntesis convierte la luz en energía química.",
    ),
    "fr": (
        "Quelle est la longueur du tunnel sous la Manche ?",
        "Le tunnel sous la Manche mesure 50,5 kilomètres.",
        "Le tunnel sous la Manche a une longueur de 50,5 kilomètres. Il relie la France et l'Angleterre.",
        "Le viaduc de Millau enjambe la vallée du Tarn. Il a ouvert en 2004.",
        "La photosynthèse transforme la lumière en énergie chimique.",
    ),
    "ru": (
        "Кто написал роман «Война и мир»?",
        "Роман «Война и мир» написал Лев Толстой.",
        "«Война и мир» — роман, который написал Лев Толстой. Он описывает войну 1812 года.",
        "Большой театр находится в Москве. Здание построено в 1825 году.",
        "Фотосинтез превращает свет в химическую энергию.",
    ),
    "zh": (
        "长城有多长？",  # noqa: RUF001 - Chinese
        "长城全长21196公里。",
        "长城是中国古代的防御工程。长城全长21196公里。",
        "故宫位于北京市中心。它建于明朝。",
        "光合作用把光能变成化学能。",
    ),
    "ar": (
        "ما هي عاصمة المغرب؟",
        "عاصمة المغرب هي الرباط.",
        "عاصمة المغرب هي مدينة الرباط. وهي تقع على المحيط الأطلسي.",
        "القاهرة مدينة كبيرة على نهر النيل. فيها متاحف كثيرة.",
        "التمثيل الضوئي يحول الضوء إلى طاقة كيميائية.",
    ),
    "hi": (
        "ताज महल किसने बनवाया?",
        "ताज महल शाहजहाँ ने बनवाया।",
        "ताज महल आगरा में है। ताज महल मुगल सम्राट शाहजहाँ ने बनवाया था।",
        "लाल किला दिल्ली में स्थित है। यह लाल पत्थर का है।",
        "प्रकाश संश्लेषण प्रकाश को रासायनिक ऊर्जा में बदलता है।",
    ),
    "th": (
        "แม่น้ำเจ้าพระยายาวเท่าไร",
        "แม่น้ำเจ้าพระยายาว 372 กิโลเมตร",
        "แม่น้ำเจ้าพระยาเป็นแม่น้ำสายหลักของไทย มีความยาว 372 กิโลเมตร ไหลผ่านกรุงเทพมหานคร",
        "ดอยอินทนนท์เป็นภูเขาที่สูงที่สุดในประเทศ อากาศเย็นตลอดปี",
        "การสังเคราะห์ด้วยแสงเปลี่ยนแสงเป็นพลังงานเคมี",
    ),
}

HOSTILE = [
    "." * 200_000,
    "a " * 100_000,
    " ".join(f"w{i}" for i in range(30_000)),
    "汉" * 200_000,
    "".join(chr(0x4E00 + i % 20_000) for i in range(200_000)),
    "\n" * 200_000,
    "I do not " * 22_000,
    "A.B" * 66_000,
    "ก" * 200_000,
    "9,9." * 50_000,
]


def test_it_is_a_free_judge(judge):
    assert judge.is_free
    assert judge.name == "lexical"
    assert LexicalJudge("words").name == "words"


@pytest.mark.parametrize("language", QUESTIONS)
def test_the_context_that_holds_the_answer_is_relevant_and_the_others_are_not(judge, make_trace, language):
    query, answer, right, near, far = QUESTIONS[language]
    assessment = judge.assess(make_trace(query, [near, right, far], answer=answer), ALL)
    assert [verdict.relevant for verdict in assessment.contexts.values()] == [False, True, False]
    assert assessment.contexts["2"].level is Level.HIGH
    assert assessment.contexts["3"].level in {Level.NONE, Level.LOW}
    assert [verdict.used for verdict in assessment.contexts.values()] == [False, True, False]
    assert assessment.head == "query_answer"
    assert assessment.insufficient is False
    assert {number.partition(".")[0] for number in assessment.essential} == {"2"}
    assert assessment.notes["unsupported_language_pair"] is None


@pytest.mark.parametrize("language", QUESTIONS)
def test_without_an_answer_the_right_context_is_still_the_most_probable(judge, make_trace, language):
    query, _, right, near, far = QUESTIONS[language]
    assessment = judge.assess(make_trace(query, [near, right, far]), ALL)
    probabilities = assessment.notes["query_only"]
    assert assessment.head == "query_only"
    assert max(probabilities, key=probabilities.get) == "2"
    assert "query_answer" not in assessment.notes
    assert [verdict.used for verdict in assessment.contexts.values()] == [False, False, False]


@pytest.mark.parametrize("language", QUESTIONS)
def test_contexts_about_something_else_do_not_suffice(judge, make_trace, language):
    query, answer, _, near, far = QUESTIONS[language]
    assessment = judge.assess(make_trace(query, [near, far], answer=answer), ALL)
    assert assessment.insufficient is True
    assert "sentence by sentence, and none holds enough" in assessment.reason
    assert assessment.essential == ()
    assert assessment.relevant_sentences == ()
    assert not any(verdict.relevant or verdict.used for verdict in assessment.contexts.values())


def test_a_wrong_answer_makes_no_context_relevant(judge, make_trace):
    query, _, right, near, _ = QUESTIONS["en"]
    assessment = judge.assess(make_trace(query, [near], answer="It has 324 metres of Swiss chocolate."), ALL)
    assert assessment.contexts["1"].relevant is False
    supported = judge.assess(make_trace(query, [near, right], answer="In 1750.", reference="March 1889"), ALL)
    assert [verdict.supports for verdict in supported.contexts.values()] == [False, True]


def test_supports_is_judged_only_where_there_is_a_reference(judge, make_trace):
    query, answer, right, _, _ = QUESTIONS["en"]
    assert judge.assess(make_trace(query, [right], answer=answer), ALL).contexts["1"].supports is None
    with_reference = judge.assess(make_trace(query, [right], reference="1889"), ALL)
    assert with_reference.contexts["1"].supports is True
    assert with_reference.notes["reference"]["1"] > 0.5


def test_an_abstaining_answer_is_no_evidence(judge, make_trace):
    query, _, right, near, _ = QUESTIONS["en"]
    abstained = judge.assess(make_trace(query, [right, near], answer="I don't know."), ALL)
    silent = judge.assess(make_trace(query, [right, near]), ALL)
    assert abstained.abstained is True
    assert abstained.head == "query_only"
    assert abstained.contexts == silent.contexts
    assert silent.abstained is False


def test_a_bare_yes_is_judged_by_the_question_and_uses_what_the_question_points_to(judge, make_trace):
    contents = ["Tomatoes are botanically fruits, berries to be exact.", "The moon orbits the earth."]
    assessment = judge.assess(make_trace("Are tomatoes fruits?", contents, answer="Yes."), ALL)
    assert assessment.head == "query_only"
    assert assessment.abstained is False
    assert [verdict.used for verdict in assessment.contexts.values()] == [True, False]


def test_the_better_of_question_and_rewritten_question_counts(judge, make_trace):
    contents = ["The warranty of the X200 laptop lasts three years.", "Our office is closed on Sundays."]
    chat = judge.assess(make_trace("And for how long?", contents), ALL)
    alone = "How long is the X200 laptop warranty?"
    rewritten = judge.assess(make_trace("And for how long?", contents, retrieval_query=alone), ALL)
    assert chat.contexts["1"].relevant is False
    assert rewritten.contexts["1"].relevant is True
    assert rewritten.contexts["2"].relevant is False
    only = make_trace(None, contents, retrieval_query=alone)
    assert judge.assess(only, ALL).contexts["1"].relevant is True


def test_blank_contexts_keep_their_number_and_are_never_relevant(judge, make_trace):
    query, answer, right, _, _ = QUESTIONS["en"]
    assessment = judge.assess(make_trace(query, ["", right, " \n"], answer=answer, reference=answer), ALL)
    blank = ContextVerdict(
        relevant=False,
        supports=False,
        level=Level.NONE,
        used=False,
        reason="blank: nothing to read",
    )
    assert list(assessment.contexts) == ["1", "2", "3"]
    assert assessment.contexts["1"] == assessment.contexts["3"] == blank
    assert list(assessment.notes["query_answer"]) == ["2"]
    assert all(number.startswith("2.") for number in (*assessment.essential, *assessment.relevant_sentences))


def test_only_what_was_asked_for_is_filled(judge, make_trace):
    query, answer, right, _, _ = QUESTIONS["en"]
    trace = make_trace(query, [right, ""], answer=answer, reference=answer)
    relevant = judge.assess(trace, frozenset({Aspect.RELEVANT}))
    assert all(
        verdict.relevant is not None and (verdict.supports, verdict.level, verdict.used) == (None, None, None)
        for verdict in relevant.contexts.values()
    )
    assert (relevant.essential, relevant.insufficient, relevant.relevant_sentences) == (None, None, None)
    assert judge.assess(trace, frozenset({Aspect.ESSENTIAL})).contexts is None


def test_missing_items_and_statements_are_never_assessed(judge, make_trace):
    query, answer, right, _, _ = QUESTIONS["en"]
    assessment = judge.assess(make_trace(query, [right], answer=answer), ALL)
    assert assessment.missing is None
    assert assessment.statements is None
    assert assessment.faults == {}
    assert assessment.calls == ()


def test_reasons_name_the_strongest_feature_in_words(judge, make_trace):
    query, answer, right, _, far = QUESTIONS["en"]
    assessment = judge.assess(make_trace(query, [right, far], answer=answer), ALL)
    reason = assessment.contexts["1"].reason
    assert reason.startswith(("holds 100% of the answer's", "has a sentence with 100% of the answer's"))
    assert "(p 0." in assessment.contexts["2"].reason
    opening = judge.assess(make_trace("Which Louvre?", ["Louvre. " + far * 3]), ALL).contexts["1"].reason
    assert "100%" in opening
    assert "question" in opening
    assert "shares no word" in judge.assess(make_trace("?", ["x"]), ALL).contexts["1"].reason


def test_question_and_contexts_in_different_languages_are_marked(judge, make_trace):
    query = QUESTIONS["de"][0]
    contents = [QUESTIONS["en"][2], "The mountain is the highest of the country and it is very cold there."]
    assessment = judge.assess(make_trace(query, contents), ALL)
    assert assessment.notes["unsupported_language_pair"] == "de>en"
    assert "de>en" in assessment.reason
    scripts = judge.assess(make_trace(QUESTIONS["ru"][0], [QUESTIONS["zh"][2], QUESTIONS["en"][2]]), ALL)
    assert scripts.notes["unsupported_language_pair"] == "ru>en+zh"
    mixed = judge.assess(make_trace(query, [QUESTIONS["en"][2], QUESTIONS["de"][3]]), ALL)
    assert mixed.notes["unsupported_language_pair"] is None


def test_numbers_and_names_that_no_context_holds_are_reported(judge, make_trace):
    query, _, right, _, _ = QUESTIONS["en"]
    answer = "The Eiffel Tower was completed in March 1889 by Gustave Eiffel and cost 7,800 francs."
    notes = judge.assess(make_trace(query, [right], answer=answer), ALL).notes
    assert notes["ungrounded_terms"] == ["Gustave", "7,800"]


def test_the_same_trace_gives_the_same_assessment(judge, make_trace):
    query, answer, right, near, far = QUESTIONS["en"]
    trace = make_trace(query, [near, right, far, ""], answer=answer, reference="1889")
    assert judge.assess(trace, ALL) == LexicalJudge().assess(trace, ALL)


def test_a_further_context_does_not_change_the_verdicts_about_the_others(judge, make_trace):
    query, answer, right, near, far = QUESTIONS["en"]
    few = judge.assess(make_trace(query, [right, near], answer=answer), ALL)
    more = judge.assess(make_trace(query, [right, near, far], answer=answer), ALL)
    assert {number: more.contexts[number] for number in few.contexts} == few.contexts


def test_the_fingerprint_is_the_same_in_every_process():
    fingerprint = LexicalJudge().fingerprint
    assert fingerprint == LexicalJudge("another name").fingerprint
    assert len(fingerprint) == 16
    assert int(fingerprint, 16) >= 0


def test_the_fingerprint_changes_with_the_rules(monkeypatch):
    before = LexicalJudge().fingerprint
    monkeypatch.setattr("ragsonde.judging.lexical.judge.RULES_VERSION", "another")
    assert LexicalJudge().fingerprint != before


def test_without_question_or_contexts_nothing_is_relevant_and_nothing_raises(judge, make_trace):
    nothing = judge.assess(make_trace(None, ["Some text."], answer="Some text."), ALL)
    assert nothing.contexts["1"].level is Level.NONE
    unknown = Trace(
        trace_id="t",
        occurred_at=datetime(2024, 5, 1, tzinfo=UTC),
        content_hash="h",
        extraction=Extraction(format="native"),
    )
    assert judge.assess(unknown, ALL).contexts == {}


def test_a_context_without_numbered_sentences_is_judged_as_a_whole(judge, make_trace):
    query, answer, right, _, _ = QUESTIONS["en"]
    trace = make_trace(query, [right], answer=answer)
    bare = trace.model_copy(
        update={"contexts": tuple(context.model_copy(update={"sentences": ()}) for context in trace.contexts)}
    )
    assessment = judge.assess(bare, ALL)
    assert assessment.contexts["1"].relevant is True
    assert (assessment.essential, assessment.insufficient) == ((), True)


TEXTS = st.text(max_size=300) | st.sampled_from([text for texts in QUESTIONS.values() for text in texts])


@settings(deadline=None)
@given(
    texts=st.fixed_dictionaries(
        {name: st.none() | TEXTS for name in ("query", "answer", "reference", "retrieval_query")}
    ),
    contents=st.lists(TEXTS, max_size=5),
    aspects=st.frozensets(st.sampled_from(sorted(Aspect))),
)
def test_any_text_gives_a_valid_assessment(judge, make_trace, texts, contents, aspects):
    trace = make_trace(contents=contents, **texts)
    assessment = judge.assess(trace, aspects)
    assert Assessment.model_validate_json(assessment.model_dump_json()) == assessment
    numbers = {sentence.number for sentence in trace.sentences}
    for listed in (assessment.essential or (), assessment.relevant_sentences or ()):
        assert set(listed) <= numbers
        assert len(set(listed)) == len(listed)
    if aspects & {Aspect.RELEVANT, Aspect.SUPPORTS, Aspect.LEVEL, Aspect.USED}:
        assert list(assessment.contexts) == [context.number for context in trace.contexts]
    else:
        assert assessment.contexts is None


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_hostile_text_takes_bounded_time_wherever_it_stands(judge, make_trace, text):
    plain = "The tower was completed in March 1889."
    for trace in (
        make_trace(plain, [text, text[: len(text) // 2]], answer=plain),
        make_trace(text, [plain, text], answer=plain),
        make_trace(plain, [plain, text], answer=text, reference=text),
    ):
        began = time.process_time()
        judge.assess(trace, ALL)
        assert time.process_time() - began < 3


def test_a_trace_of_five_contexts_takes_a_few_milliseconds(judge, make_trace):
    paragraph = " ".join(text for language in ("en", "fr", "es", "de") for text in QUESTIONS[language][2:])
    contents = [f"{paragraph} {place} and {paragraph[: 150 * place]}" for place in range(5)]
    trace = make_trace(QUESTIONS["en"][0], contents, answer=paragraph[:300])
    judge.assess(trace, ALL)
    began = time.process_time()
    for _ in range(20):
        judge.assess(trace, ALL)
    assert (time.process_time() - began) / 20 < 0.012
