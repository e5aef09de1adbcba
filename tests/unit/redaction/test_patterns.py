"""What the built-in patterns find and leave, and how long hostile text keeps them."""

from __future__ import annotations

import re
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.private_texts import make_redaction
from ragsonde.redaction.folding import fold
from ragsonde.redaction.numbers import has_luhn_digit
from ragsonde.redaction.table import KINDS

REDACTION = make_redaction()


def redact(text: str, redaction=REDACTION) -> str:
    return redaction.replace([text]).value[0]


LABELS = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=12)
LOCALS = st.text(string.ascii_letters + string.digits + "._+-", min_size=1, max_size=80)
EMAILS = st.builds("{}@{}.{}".format, LOCALS, LABELS, st.text(string.ascii_letters, min_size=2, max_size=10))


@given(before=st.text(max_size=60), email=EMAILS, after=st.text(max_size=60))
def test_a_planted_address_never_survives_whatever_surrounds_it(before, email, after):
    assert email not in redact(before + email + after)


@given(
    before=st.text("@.a-[\\\"'n0%4u", max_size=30), email=EMAILS, after=st.text("@.a-[]\\\"'0%", max_size=30)
)
def test_nor_among_characters_that_addresses_are_made_of(before, email, after):
    assert email not in redact(before + email + after)


@given(text=st.text(st.characters(exclude_characters="@\uff20%+:=-/(", exclude_categories=("Nd", "Cs"))))
def test_a_text_without_signs_and_digits_stays_as_it_is(text):
    assert redact(text) == text


@given(text=st.text(), email=EMAILS)
def test_what_was_redacted_is_not_redacted_again(text, email):
    once = REDACTION.replace([f"{text} {email} password=hunter22 {text}"])

    assert REDACTION.replace(once.value).value == once.value


@given(digits=st.text("0123456789", min_size=12, max_size=18))
def test_luhn_has_exactly_one_right_check_digit(digits):
    assert sum(has_luhn_digit(digits + last) for last in "0123456789") == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("write to anna@example.org.", "write to [email]."),
        ("ANNA.M+x@Mail.Example.CO.UK,", "[email],"),
        ("https://x.example/?u=anna%40example.org&v=1", "https://x.example/?u=[email]&v=1"),
        ("müller@bücher.example", "[email]"),
        ('"anna b"@example.org', "[email]"),
        # numbers of the issuers' test sets
        ("Visa 4111111111111111 and 4012 8888 8888 1881", "Visa [card] and [card]"),
        ("Mastercard 5555-5555-5555-4444, Amex 3782 822463 10005", "Mastercard [card], Amex [card]"),
        ("1234 4111 1111 1111 1111 5678", "1234 [card] 5678"),
        ("call +49 (0)30 901820 or 0044 20 7946 0958", "call [phone] or [phone]"),
        ("(212) 555-0100 in New York", "[phone] in New York"),
        # the example of ISO 13616
        ("IBAN GB82 WEST 1234 5698 7654 32 TODAY", "IBAN [iban] TODAY"),
        ("DE89370400440532013000", "[iban]"),
        ("key sk-abcdefghijklmnop1234 here", "key [key] here"),
        ("AKIAIOSFODNN7EXAMPLE", "[key]"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[key]"),
        ("Authorization: Bearer abc.def-123456789", "Authorization: Bearer [key]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", "[key]"),
        ("password=hunter2&next=1", "password=[key]&next=1"),
        ('{"api_key": "letters only"}', '{"api_key": "[key]"}'),
        ("postgresql://app:hunter2@db.example/x", "postgresql://[key]/x"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE+/=\n-----END PRIVATE KEY-----\nend", "[key]\nend"),
        ("from 192.0.2.17 and 2001:db8::8a2e:370:7334", "from [ip] and [ip]"),
        # as they are seen, in other characters
        ("anna\u200b@exam\u00adple\u3002org!", "[email]!"),
        ("anna\ufe6bexample.org or anna\uff20example.org", "[email] or [email]"),
        (
            "a%40b anna%40example%2Eorg, anna&#64;example.org, anna&commat;example.org",
            "a%40b [email], [email], [email]",
        ),
        (r'{"a": "anna\u0040example.org and ben\u200b@exam\u00adple.org', r'{"a": "[email] and [email]'),
        ("5555\u20115555\u20115555\u20114444, 4111\u22121111\u22121111\u22121111", "[card], [card]"),
        ("4012\u20098888\t8888  1881; 4012.8888.8888.1881", "[card]; [card]"),
        ("4012 8888\n8888\r\n1881", "[card]"),
        ("\uff14\uff11\uff11\uff11111111111111 \u0664111111111111111", "[card] [card]"),
        ("gb82 west 1234 5698 7654 32, DE89-3704-0044-0532-0130-00", "[iban], [iban]"),
        ("GB82\u00a0WEST\u202f1234\t5698  7654\n32", "[iban]"),
        ("+49\u00a030\u2011901820", "[phone]"),
        ("192\u3002\uff10.2.17", "[ip]"),
        (r'{"a": "line\nanna@example.org"}', r'{"a": "line\n[email]"}'),
        (r'{"a": "\u003canna@example.org"}', r'{"a": "\u003c[email]"}'),
    ],
)
def test_found(text, kept):
    assert redact(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "order 1234567890, invoice 2024-000123, 100 %",
        "2024-12-31T23:59:59.123456+01:00",
        "version 1.2.3.4, v10.0.0.1 and lodash@4.17.21",
        "4111 1111 1111 1112 is one digit off",
        "a score of 0.4111111111111111",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736 at 1735689600000000000",
        "std::vector<a::b> at 12:30:45",
        "password: required, the token is missing, max_tokens=512",
        "GB82 WEST 1234 5698 7654 33 has a wrong check digit",
        "+1.234567890 and 1+1234567890",
        "[email] [card:3fa2c1] password=[key]",
    ],
)
def test_left(text):
    assert redact(text) == text


SPELLINGS = (
    ("anna@example.org", "an\u00adna%40example\u3002org", "anna&#64;example.org"),
    ("4111 1111 1111 1111", "4111111111111111", "4111\u20111111\u20111111\u20111111"),
    ("GB82WEST12345698765432", "gb82-west-1234-5698-7654-32"),
)


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_two_spellings_of_one_value_have_one_pseudonym_and_names_stay_two(spellings):
    redaction = make_redaction(pseudonyms=True)

    assert len(set(redaction.replace(spellings).value)) == 1
    assert len(set(redaction.replace_names(spellings).value)) == len(spellings)


SHOWN = st.text(st.sampled_from("a1@.- \u200b\u00ad\u2010\uff20\n%&"), max_size=20) | st.sampled_from(
    ["%40", "&#64;", "\\u0040", "\\u200b", "%2E"]
)


@given(parts=st.lists(SHOWN, max_size=8))
def test_places_of_a_folded_text_are_those_of_the_original(parts):
    text = "".join(parts)
    folded = fold(text)

    assert folded.find_original(0, len(folded.text))[1] == len(text)
    for place in range(len(folded.text)):
        start, end = folded.find_original(place, place + 1)
        assert fold(text[start:end]).text == folded.text[place]


def test_only_a_placeholder_of_a_known_kind_hides_what_is_in_it():
    redaction = make_redaction(own={"codename": "blue[a-z]{1,9}"})

    assert redact("[bluebird] and [codename]", redaction) == "[[codename]] and [codename]"


HOSTILE = (
    *("\u200b", "%40%", "&#0", "\\u0", "\\u0040", "1\u00a0", "1. ", "de12-", "aa11 a"),
    *("a", "a@", "a.", "a@b.", "@", "a@a-", "a@b.co ", "[email] a@b.co ", "\\", "\\n", "%40", '"a'),
    *("1 ", "1111 ", "4111111111111111 ", "4111 1111 ", "+1", "+1 ", "+1(", "001 ", "(212) ", "12"),
    *("eyJ", "eyJa.", "eyJaaaaaa.", "sk-", "ghp_", "password=", "password:", "pass", "secret_", "token "),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "bearer a",
        "authorization: basic ",
        "://a:",
        "key: aaaa",
        "secret: 'aaa",
    ),
    *("1.", "1.1.1.1", "1:", "::", "DE12 3456 ", "AA11A"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_time_grows_with_the_text_and_no_faster(kind):
    for piece in HOSTILE:
        seconds = [_measure(KINDS[kind], piece, 2**exponent) for exponent in (13, 16)]
        # eight times the text: squared it would be 64 times, and seconds
        assert seconds[1] < max(0.1, 24 * seconds[0]), (piece, seconds)


def _measure(find, piece: str, size: int) -> float:
    text = (piece * (size // len(piece) + 1))[:size]
    begun = time.process_time()
    for _ in find(text):
        pass
    return time.process_time() - begun


def test_the_same_text_has_the_same_pseudonym_and_another_one_another():
    redaction = make_redaction(pseudonyms=True)

    first, second, other = (redact(f"{name}@example.org", redaction) for name in ("anna", "anna", "bob"))

    assert re.fullmatch(r"\[email:[0-9a-f]{6}\]", first)
    assert first == second != other


def test_names_that_differ_stay_apart_without_pseudonyms_too():
    kept = REDACTION.replace_names(["anna@example.org", "bob@example.org", "10.0.0.1"]).value

    assert kept[0] != kept[1]
    assert kept[2] == "10.0.0.1"


def test_counts_tell_how_many_places_of_each_kind_were_replaced():
    replaced = REDACTION.replace(["a@example.org b@example.org", "4111111111111111", "nothing"])

    assert replaced.counts == {"email": 2, "card": 1}


def test_overlapping_places_become_one():
    redaction = make_redaction(patterns=("email",), own={"name": r"Ms anna"})

    assert redact("to Ms anna@example.org", redaction) == "to [name]"
