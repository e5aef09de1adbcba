import pytest

from ragsonde.judging.lexical.words import _stem_kept, normalize, stem, tokenize, weigh


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cities' Prices", ["the", "city", "pric"]),
        ("running runs RUN", ["run", "run", "run"]),
        ("snake_case v2.10", ["snak", "case", "v2", "10"]),
        ("\uff26\uff55\uff4c\uff4c \ufb01ne", ["full", "fine"]),
        ("Straßenbahnen", ["straße"]),
        ("московского", ["москов"]),
        ("长城 A4纸", ["长城", "a4", "纸"]),
        ("光合作用", ["光合", "合作", "作用"]),
        ("กขค", ["กข", "ขค"]),
        ("ກຂຄ", ["ກຂ", "ຂຄ"]),
        ("កខគ", ["កខ", "ខគ"]),
        ("ကခဂ", ["ကခ", "ခဂ"]),
        ("가나다", ["가나", "나다"]),
        ("ひらカ", ["ひら", "らカ"]),
        ("सम्राट", ["सम्राट"]),
        ("كِتَاب", ["كتاب"]),
        ("٣٧ ३७", ["37", "37"]),
        ("...!?", []),
    ],
)
def test_texts_become_stems_or_pairs_of_characters(text, tokens):
    assert tokenize(normalize(text)) == tokens


def test_forms_of_a_word_mostly_share_their_stem():
    assert stem("organisation") == stem("organisations")
    assert stem("complete") == stem("completed") == stem("completes")
    assert stem("class") == stem("classes")
    assert stem("call") == stem("called") == stem("calling")
    assert stem("studies") == stem("studied") == stem("study")
    assert stem("university") != stem("unit")


def test_numbers_and_very_short_words_weigh_less():
    assert weigh("tower") > weigh("1889") > weigh("zu")


def test_words_that_no_language_has_do_not_fill_the_memory():
    stem("known")
    kept = _stem_kept.cache_info().currsize
    assert stem("x" * 20_000 + "ing") == "x" * 7
    assert _stem_kept.cache_info().currsize == kept
