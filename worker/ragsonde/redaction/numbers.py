"""Finds numbers that name a person's account: cards, bank accounts, telephones."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

from ragsonde.redaction.matches import Match

if TYPE_CHECKING:
    from collections.abc import Iterator

_GAP = "(?: {1,3}|[.-])"
_CARD = re.compile(
    r"(?<![0-9])(?<![0-9][.,])(?=("
    rf"[0-9]{{13,19}}|[0-9]{{4}}(?:{_GAP}[0-9]{{4}}){{2}}{_GAP}[0-9]{{1,4}}(?:{_GAP}[0-9]{{1,3}})?"
    rf"|[0-9]{{4}}{_GAP}[0-9]{{6}}{_GAP}[0-9]{{4,5}}"
    r")(?![0-9]))"
)
"""Read ahead, so that a number that is none hides no card that begins inside it."""
_ISSUERS = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})"
    r"|(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)[0-9]*"
    r"|3[47][0-9]{13}"
    r"|3(?:0[0-5]|09|[689])[0-9]{11,16}"
    r"|(?:6011|64[4-9]|65|62|35)[0-9]{12,17}"
    r"|(?:50|5[6-9]|6[0-9])[0-9]{10,17}"
)
_MASTERCARD_DIGITS = 16

_PHONE = re.compile(
    r"(?<![\w+])(?:\+[1-9]|00[1-9](?=[0-9]{0,3}[ \-/(]))(?:[ \t\-./()]{0,3}[0-9]){6,13}(?![0-9])"
)
_AREA_PHONE = re.compile(r"(?<![\w(])\([2-9][0-9]{2}\)[ -]?[0-9]{3}[ .-][0-9]{4}(?![\w])")
_FRACTION = re.compile(r"\+[0-9]+\.[0-9]+")

_IBAN = re.compile(
    r"(?<![A-Za-z0-9])(?=([A-Z]{2}[0-9]{2}(?:(?: {1,3}|[.-])?[A-Z0-9]){11,30}))", re.IGNORECASE | re.ASCII
)
_IBAN_CHARACTERS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29,
    "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29,
    "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28,
    "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20,
    "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22,
    "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25,
    "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25,
    "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
"""Of the registry of ISO 13616."""
_WITHOUT_GAPS = str.maketrans("", "", " .-")
_LINES = str.maketrans("\t\n\r\v\f", "     ")
"""A number may go on in the next line, or in the next cell."""
_AS_NUMBERS = {ord(letter): str(number) for number, letter in enumerate(string.ascii_uppercase, 10)}
_SHOWN_TENS, _LARGEST_DIGIT = 10, 9
_MODULUS = 97


def strip_gaps(text: str) -> str:
    """A number without what only makes it readable: two spellings of it are one."""
    return "".join(one for one in text if one.isalnum() or one == "+").upper()


def find_cards(text: str) -> Iterator[Match]:
    """Numbers of an issuer's form whose check digit is right."""
    for found in _CARD.finditer(text.translate(_LINES)):
        digits = "".join(one for one in found.group(1) if one.isdigit())
        if _is_issued(digits) and has_luhn_digit(digits):
            yield Match(*found.span(1), "card")


def has_luhn_digit(digits: str) -> bool:
    """True when the last digit is the check digit of those before it (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, one in enumerate(reversed(digits)):
        value = int(one) * (1 + place % 2)
        total += value if value <= _LARGEST_DIGIT else value - _LARGEST_DIGIT
    return total % _SHOWN_TENS == 0


def find_phones(text: str) -> Iterator[Match]:
    """Numbers in international form (`+49 ...`, `0049 ...`), and `(212) 555-0100`.

    National forms are left: dates, versions and order numbers look the same.
    """
    if "+" in text or "00" in text:
        for found in _PHONE.finditer(text):
            if _FRACTION.fullmatch(found.group()) is None:
                yield Match(*found.span(), "phone")
    if "(" in text:
        for found in _AREA_PHONE.finditer(text):
            yield Match(*found.span(), "phone")


def find_ibans(text: str) -> Iterator[Match]:
    """Account numbers of a country's length whose check digits are right."""
    for found in _IBAN.finditer(text.translate(_LINES)):
        candidate = found.group(1).upper()
        length = _IBAN_CHARACTERS.get(candidate[:2])
        if length is None:
            continue
        packed = candidate.translate(_WITHOUT_GAPS)[:length]
        if len(packed) == length and _has_check_digits(packed):
            yield Match(found.start(), found.start() + _find_end(candidate, length), "iban")


def _is_issued(digits: str) -> bool:
    if digits[0] in "25" and digits[:2] not in {"50", "56", "57", "58", "59"}:
        return len(digits) == _MASTERCARD_DIGITS and _ISSUERS.fullmatch(digits) is not None
    return _ISSUERS.fullmatch(digits) is not None


def _find_end(candidate: str, length: int) -> int:
    """Where so many letters and digits end, of which there are as many."""
    places = [place for place, one in enumerate(candidate, 1) if one.isalnum()]
    return places[length - 1]


def _has_check_digits(packed: str) -> bool:
    """True as ISO 13616 has it: letters as 10 to 35, the first four behind the rest, modulo 97."""
    return int((packed[4:] + packed[:4]).translate(_AS_NUMBERS)) % _MODULUS == 1
