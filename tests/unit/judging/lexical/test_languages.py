import pytest

from ragsonde.judging.lexical.languages import guess_language, is_stop, name_pair
from ragsonde.judging.lexical.words import normalize, tokenize


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("When was the tower completed?", "en"),
        ("Wie hoch ist der Turm?", "de"),
        ("¿Quién pintó el cuadro?", "es"),
        ("Quelle est la longueur du tunnel ?", "fr"),
        ("Кто написал этот роман?", "ru"),
        ("Ποιος έγραψε το βιβλίο;", "el"),
        ("长城有多长", "zh"),
        ("東京タワーの高さは", "ja"),
        ("서울의 인구는", "ko"),
        ("ما هي العاصمة", "ar"),
        ("ताज महल कहाँ है", "hi"),
        ("แม่น้ำยาวเท่าไร", "th"),
        ("ແມ່ນ້ຳຂອງຍາວເທົ່າໃດ", "lo"),
        ("ទន្លេមេគង្គវែងប៉ុន្មាន", "km"),
        ("ဧရာဝတီမြစ် ဘယ်လောက်ရှည်သလဲ", "my"),
        ("Tesla Roadster 2020", "latin"),
        ("1234 ??", None),
    ],
)
def test_function_words_and_scripts_tell_the_language(text, language):
    normalized = normalize(text)
    assert guess_language(normalized, frozenset(tokenize(normalized))) == language


def test_function_words_of_one_language_may_be_words_of_another():
    assert is_stop("war", language="de")
    assert not is_stop("war", language="en")
    assert is_stop("war", language=None)
    assert is_stop("什么", language="zh")


@pytest.mark.parametrize(
    ("question", "contexts", "pair"),
    [
        ("de", ["en", "en"], "de>en"),
        ("de", ["en", "de"], None),
        ("latin", ["en"], None),
        ("latin", ["ru", "zh"], "latin>ru+zh"),
        ("zh", ["ja"], None),
        ("en", [None, "de"], None),
        (None, ["de"], None),
        ("en", [], None),
    ],
)
def test_a_pair_is_unsupported_where_no_word_can_be_shared(question, contexts, pair):
    assert name_pair(question, contexts) == pair
