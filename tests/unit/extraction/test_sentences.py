import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragsonde.extraction.sentences import MAX_CHARACTERS, SPLITTER_VERSION, number_sentences, split_sentences

SENTENCES_OF = {
    # what the scorers' vectors imply
    "Dr. Smith won the prize. He lives in Oslo.": ["Dr. Smith won the prize.", "He lives in Oslo."],
    "巴黎是法国的首都。法国在欧洲。今天天气很好。": ["巴黎是法国的首都。", "法国在欧洲。", "今天天气很好。"],
    "1.2 is the value.": ["1.2 is the value."],
    "-5 is the value.": ["-5 is the value."],
    "Fact B. Irrelevant detail. Fact C.": ["Fact B.", "Irrelevant detail.", "Fact C."],
    "Error 17 means Insufficient Information. Error 18 means timeout.": [
        "Error 17 means Insufficient Information.",
        "Error 18 means timeout.",
    ],
    "Paris is the capital of France. France is in Europe. The weather is nice today.\n": [
        "Paris is the capital of France.",
        "France is in Europe.",
        "The weather is nice today.",
    ],
    # abbreviations, initials, acronyms
    "George W. Bush met J. R. R. Tolkien. They talked.": [
        "George W. Bush met J. R. R. Tolkien.",
        "They talked.",
    ],
    "It was directed by S. A. Chandrasekhar.": ["It was directed by S. A. Chandrasekhar."],
    "He served in the U.S. Army. She left the U.S. The war went on.": [
        "He served in the U.S. Army.",
        "She left the U.S.",
        "The war went on.",
    ],
    "Apple Inc. Cupertino is large. It was Apple Inc. The firm grew.": [
        "Apple Inc. Cupertino is large.",
        "It was Apple Inc.",
        "The firm grew.",
    ],
    "Use a tool, e.g. Make. See Fig. 3 and No. 5.": ["Use a tool, e.g. Make.", "See Fig. 3 and No. 5."],
    "Take vitamin C. It helps.": ["Take vitamin C.", "It helps."],
    "В 1956 г. завод открылся. Т.е. он работал.": ["В 1956 г. завод открылся.", "Т.е. он работал."],  # noqa: RUF001 - Russian
    "Le Dr. Dupont et M. Durand sont là. Ils parlent.": [
        "Le Dr. Dupont et M. Durand sont là.",
        "Ils parlent.",
    ],
    "El Sr. Gómez vive en EE.UU. desde 1990. Trabaja.": [
        "El Sr. Gómez vive en EE.UU. desde 1990.",
        "Trabaja.",
    ],
    # numbers and ordinals
    "It cost 3.50 dollars in 1990. Now it is 7.": ["It cost 3.50 dollars in 1990.", "Now it is 7."],
    "Am 5. Mai 1990 kam er. Im 2. Jahrhundert nicht. Er gewann 12. Der Rest nicht.": [
        "Am 5. Mai 1990 kam er.",
        "Im 2. Jahrhundert nicht.",
        "Er gewann 12.",
        "Der Rest nicht.",
    ],
    "See www.example.com/a.b?c=d for more. Thanks.": ["See www.example.com/a.b?c=d for more.", "Thanks."],
    # quotes, brackets, footnotes
    'He said "Go." She left (soon.) Why?! "Because."': [
        'He said "Go."',
        "She left (soon.)",
        "Why?!",
        '"Because."',
    ],
    "„Komm.“ Er ging.": ["„Komm.“", "Er ging."],
    "“Why?” he asked. Nobody knew.": ["“Why?” he asked.", "Nobody knew."],
    "It was sold in 1990.[12] Then it closed.": ["It was sold in 1990.[12]", "Then it closed."],
    'Their album "Home?" (2009) sold well.': ['Their album "Home?" (2009) sold well.'],
    "The band Yahoo! is loud. Jeopardy! was fun.": ["The band Yahoo! is loud.", "Jeopardy! was fun."],
    # ellipses and stops that stand alone
    "He waited... Then it came … at last.": ["He waited...", "Then it came … at last."],
    "... ... to the end. Next.": ["... ... to the end.", "Next."],
    "all is lower case. nobody shouts here. fine": ["all is lower case.", "nobody shouts here.", "fine"],
    # list marks
    "1. Paris is large. 2. Rome is old.": ["1. Paris is large.", "2. Rome is old."],
    "a) First point. b) Second point.": ["a) First point.", "b) Second point."],
    "1.\nParis\n-\nRome": ["1. Paris", "- Rome"],
    "Things: • one thing • another thing": ["Things:", "• one thing", "• another thing"],
    "Only this. 2.": ["Only this. 2."],
    "---\nTitle\n---": ["--- Title ---"],
    "1.": ["1."],
    "...": ["..."],
    # line ends
    "First line\nsecond line. Third.\r\n\r\nFourth": ["First line", "second line.", "Third.", "Fourth"],
    # other scripts
    "これは本です。「はい！」と言った。": ["これは本です。", "「はい！」", "と言った。"],  # noqa: RUF001 - full-width stops
    "他走了！为什么？不知道": ["他走了！", "为什么？", "不知道"],  # noqa: RUF001 - full-width stops
    "यह एक किताब है। वह पेन है॥ अंत": ["यह एक किताब है।", "वह पेन है॥", "अंत"],
    "यह है।वह भी": ["यह है।", "वह भी"],
    "هل هذا صحيح؟ نعم. حسنا": ["هل هذا صحيح؟", "نعم.", "حسنا"],
    "یہ کتاب ہے۔ وہ قلم ہے۔": ["یہ کتاب ہے۔", "وہ قلم ہے۔"],  # noqa: RUF001 - Urdu stops
    "Πού είναι; Εδώ είναι.": ["Πού είναι;", "Εδώ είναι."],
    "": [],
    " \n\t\u3000 \n": [],
}

THAI = "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย ตั้งอยู่บนฝั่งแม่น้ำเจ้าพระยา "

HOSTILE = [
    "." * 100_000,
    '"' * 100_000,
    "\n" * 100_000,
    ". " * 50_000,
    '."' * 50_000,
    "a. " * 33_000,
    ".\n" * 50_000,
    "1.\n" * 33_000,
    "• " * 50_000,
    "... " * 25_000,
    "x? ((((((((((" * 8_000,
    ".[1]" * 25_000,
    "a" + " " * 100_000 + "b",
    "ก " * 50_000,
    "。" * 100_000,
]


def without_space(text):
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("text", SENTENCES_OF)
def test_a_text_is_cut_where_a_reader_would(text):
    assert split_sentences(text) == SENTENCES_OF[text]


def test_numbers_count_over_the_whole_context_and_lines_over_its_non_empty_lines():
    sentences = number_sentences("One. Two.\n\nThree.\n  \nFour. Five.", context_number="7")
    assert [(s.number, s.text, s.line) for s in sentences] == [
        ("7.1", "One.", 0),
        ("7.2", "Two.", 0),
        ("7.3", "Three.", 1),
        ("7.4", "Four.", 2),
        ("7.5", "Five.", 2),
    ]


def test_a_blank_context_has_no_sentences():
    assert number_sentences(" \n ", context_number="1") == ()


def test_a_marker_on_its_own_line_belongs_to_the_line_that_follows():
    assert [(s.text, s.line) for s in number_sentences("1.\nParis.\n2.\nRome.", context_number="1")] == [
        ("1. Paris.", 0),
        ("2. Rome.", 1),
    ]


def test_scripts_without_stops_are_cut_in_windows_at_spaces():
    text = THAI * 5
    sentences = split_sentences(text)
    assert len(sentences) > 1
    assert all(120 <= len(sentence) <= 240 for sentence in sentences[:-1])
    assert " ".join(sentences) == text.strip()


def test_a_long_sentence_is_cut_at_a_comma_or_space():
    sentences = split_sentences("one word, " * 200)
    assert len(sentences) == 4
    assert all(sentence.endswith(("word,", "word")) for sentence in sentences)


def test_a_word_longer_than_the_limit_is_cut_through():
    assert [len(sentence) for sentence in split_sentences("x" * 1300)] == [600, 600, 100]


@given(st.text(max_size=2000) | st.text(alphabet=" .!?\n\"'a1A()-•。।ก;[]", max_size=400))
@example("1.\n\x1c.\u3000x")
def test_nothing_is_lost_and_every_sentence_has_text_within_the_limit(text):
    sentences = split_sentences(text)
    assert without_space("".join(sentences)) == without_space(text)
    assert all(sentence and sentence == sentence.strip() for sentence in sentences)
    assert all(len(sentence) <= MAX_CHARACTERS for sentence in sentences)
    numbered = number_sentences(text, context_number="3")
    assert [s.text for s in numbered] == sentences
    assert [s.number for s in numbered] == [f"3.{k}" for k in range(1, len(sentences) + 1)]
    lines = [s.line for s in numbered]
    assert lines == sorted(lines)
    assert set(lines) == set(range(len(set(lines))))


@pytest.mark.parametrize("text", [t for t in SENTENCES_OF if t.isascii()])
def test_a_sentence_cut_again_is_itself(text):
    assert all(split_sentences(sentence) == [sentence] for sentence in split_sentences(text))


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_hostile_text_takes_linear_time(text):
    began = time.process_time()
    split_sentences(text)
    assert time.process_time() - began < 0.3


def test_a_context_takes_a_fraction_of_a_millisecond():
    text = (
        "The quick brown fox of St. Mary jumped over the lazy dog in 1990, and then it slept for a while. "
        * 11
    )
    split_sentences(text)
    began = time.process_time()
    for _ in range(50):
        number_sentences(text, context_number="1")
    assert (time.process_time() - began) / 50 < 0.000_6


def test_the_version_is_what_fingerprints_are_made_of():
    assert SPLITTER_VERSION == "1"
