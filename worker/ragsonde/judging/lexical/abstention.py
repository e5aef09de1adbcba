"""Whether an answer says that it does not know."""

from __future__ import annotations

import re

from ragsonde.judging.lexical.words import normalize

_HEAD_CHARACTERS = 240
_LONGEST_CHARACTERS = 600
"""An answer that goes on for longer does answer something, whatever it begins with."""

_MATERIAL = (
    r"(?:contexts?|documents?|texts?|passages?|sources?|information|articles?|excerpts?|results?|materials?)"
)
_GIVEN = r"(?:mentioned|specified|stated|provided|given|included|contained|addressed|covered|found|available)"
_GIVE = r"(?:mention|specify|provide|state|contain|include|say|answer|address|give|cover)"
_TELL = r"(?:answer|find|determine|say|tell|locate)"
_THE = r"(?:the|this|these|any|your|my)"
_NOT_ABLE = r"(?:do not|don't|did not|didn't|cannot|can't|can not|could not|couldn't)"

# Refusals of a company ("we do not provide refunds", "shipping is not included") are answers: verbs of
# knowing are enough for "I", everything else must name the context or the information.
_PHRASES = {
    "en": (
        rf"\bi {_NOT_ABLE} (?:\w+ ){{0,2}}(?:know|have|see|{_TELL})\b",
        rf"\bwe {_NOT_ABLE} (?:\w+ )?(?:know|answer|determine)\b",
        rf"(?:^|\b(?:i am|i'm|i was|sorry|unfortunately),? )(?:not able|unable) to {_TELL}\b",
        r"\b(?:cannot|can't|could not|can not) be (?:answered|determined)\b",
        r"\b(?:impossible|not possible) to (?:answer|determine|say|tell)\b",
        r"\b(?:not enough|insufficient|not sufficient|no relevant) (?:\w+ )?(?:information|context)\b",
        rf"\bno (?:information|details|answer|data) (?:(?:is|was) )?(?:about|on|regarding|in|of|{_GIVEN})\b",
        r"\bno mention of\b",
        rf"\bnot (?:\w+ )?{_GIVEN} (?:\w+ )?(?:in|by|from) {_THE} (?:\w+ )?{_MATERIAL}\b",
        rf"\b{_MATERIAL} (?:\w+ ){{0,2}}(?:do|does|did)(?: not|n't) (?:\w+ ){{0,2}}{_GIVE}\b",
        r"^(?:unknown|n/a|not sure|no idea|unanswerable|insufficient information)\b",
        r"\bi (?:am not|'m not|have no) (?:sure|idea|information)\b",
        r"\bi'm not sure\b",
    ),
    "de": (
        r"\b(?:das |dies )?wei(?:ß|ss) ich (?:\w+ ){0,2}nicht\b",
        r"\bich wei(?:ß|ss) (?:\w+ ){0,3}nicht\b",
        r"\bkeine ahnung\b",
        r"\bich (?:kann|konnte) (?:\w+ ){0,6}nicht (?:\w+ )?(?:beantworten|sagen|finden|bestimmen)\b",
        r"\b(?:lässt sich|kann) (?:\w+ ){0,6}nicht (?:beantwort|bestimm|ermittel)\w+",
        r"\bkeine (?:\w+ ){0,2}(?:informationen|angaben)\b",
        r"\b(?:kontext|text|dokument\w*|quellen?)\b.{0,60}\bnicht (?:erwähnt|angegeben|enthalten|genannt)\b",
        r"\bnicht genug informationen\b",
    ),
    "es": (
        r"\bno (?:lo )?sé\b",
        r"\bno tengo (?:\w+ )?(?:información|datos|idea)\b",
        r"\bno (?:hay|existe|encuentro|encontré|dispongo de) (?:\w+ ){0,2}(?:información|respuesta)\b",
        r"\bno (?:puedo|es posible|se puede) (?:\w+ )?(?:responder|determinar|contestar)\b",
        r"\bno se (?:menciona|especifica|indica)\b",
        r"\binformación insuficiente\b",
    ),
    "fr": (
        r"\bje (?:ne )?sais pas\b",
        r"\bje l'ignore\b",
        r"\bje ne (?:peux|trouve) (?:\w+ )?pas (?:\w+ )?(?:répondre|trouver|déterminer|d'information)",
        r"\bje (?:n'ai|ne dispose d')(?: ?\w+)? ?aucune (?:information|idée)\b",
        r"\bje n'ai pas (?:\w+ ){0,2}(?:d'information|information)s?\b",
        r"\baucune information\b",
        r"\bpas (?:mentionn|précis|indiqu)ée?s? dans l[ea]s? (?:contexte|texte|document|source)s?\b",
        r"\b(?:contexte|texte|documents?) ne (?:contient|mentionne|précise)\w* pas\b",
        r"\bimpossible de (?:répondre|déterminer)\b",
    ),
    "ru": (
        r"\bне (?:знаю|могу (?:\w+ )?(?:ответить|найти|сказать|определить)|удалось найти)\b",  # noqa: RUF001 - Russian
        r"\b(?:нет|недостаточно) (?:\w+ )?(?:информации|данных|сведений)\b",
        r"\bв (?:контексте|тексте|документ\w*) (?:\w+ ){0,3}не (?:указан|упомина|содерж|сказан)\w*",
        r"\b(?:контекст|текст|документ\w*) (?:\w+ )?не (?:содерж|упомина|указыва)\w*",
    ),
    "zh": (
        r"我不知道|^不知道|我不清楚|无法(?:回答|确定|判断|得知)|没有(?:提到|提及|相关|足够|找到)|未(?:提及|提到)|信息不足",
    ),
    "ja": (r"わかりません|分かりません|知りません|情報(?:が|は)(?:ありません|不足|含まれて)|答えられません",),
    "ko": (r"모르겠|알 수 없|정보가 (?:없|부족)|답변할 수 없",),
    "ar": (
        r"لا أعرف|لا أعلم|لا أدري|لا (?:أستطيع|يمكنني) (?:الإجابة|تحديد)|لا توجد معلومات|غير مذكور|لم يذكر",
    ),
    "hi": (r"नहीं पता|नहीं जानत|पता नहीं|जानकारी (?:नहीं|उपलब्ध नहीं)|उत्तर नहीं दे|उल्लेख नहीं",),
    "th": (r"ไม่ทราบ|ไม่รู้|ไม่มีข้อมูล|ไม่พบข้อมูล|ไม่สามารถตอบ|ไม่ได้ระบุ|ไม่ได้กล่าวถึง",),
}
_PATTERN = re.compile("|".join(normalize(phrase) for phrases in _PHRASES.values() for phrase in phrases))


def is_abstention(answer: str) -> bool:
    """True when an answer declines, in one of the languages known here; an answer without a word is none."""
    if len(answer) > _LONGEST_CHARACTERS:
        return False
    head = " ".join(normalize(answer[:_HEAD_CHARACTERS]).replace("\u2019", "'").split())
    return _PATTERN.search(head) is not None
