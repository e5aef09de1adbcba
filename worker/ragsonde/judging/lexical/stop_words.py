"""Function words by language: they carry no subject, and they tell languages apart."""

from __future__ import annotations


def _gather(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


STOP_WORDS = {
    "en": _gather(
        "a about after again all also am an and any are as at be been before being between both but by",
        "can could did do does doing down during each few for from had has have having he her here him",
        "his how i if in into is it its just may me might more most must my no not of off on once only or",
        "other our out over own same shall she should so some such than that the their them then there",
        "these they this those through to too under until up us very was we were what when where which",
        "while who whom whose why will with would you your s t d ll m re ve",
    ),
    "de": _gather(
        "aber als am an auch auf aus bei beim bis da damit dann das dass dem den der des die dies diese",
        "diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es für hat hatte",
        "hatten haben ich ihr ihre im in ist ja kann können man mehr mit nach nicht noch nun nur ob oder",
        "sein seine sich sie sind so über um und uns unter viel viele vom von vor war waren warum was",
        "welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieviel wir wird wo",
        "woher wohin wurde wurden zu zum zur zwischen",
    ),
    "es": _gather(
        "a al algo alguna algunas alguno algunos ante antes como con cual cuales cuando cuál cuáles",
        "cuándo cuánta cuántas cuánto cuántos cómo de del desde donde durante dónde e el ella ellas ellos",
        "en entre era eran es esa esas ese eso esos esta estas este esto estos está están fue fueron ha",
        "había habían han hasta hay la las le les lo los me mi muy más ni no nos o otra otro para pero",
        "por porque que quien quién quiénes qué se ser si sin sobre son su sus sí también te tiene tu un",
        "una unas uno unos y ya yo",
    ),
    "fr": _gather(
        "a ai au aux avait avant avec ce ces cet cette chez combien comme comment d dans de depuis des",
        "dont du elle elles en entre est et eu fut furent il ils j je l la le les leur leurs lors m ma",
        "mais me mes moi mon même n ne nos notre nous on ont ou où par pas pendant plus pour pourquoi qu",
        "quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur ta te tes toi",
        "ton très tu un une vers vos votre vous y à était étaient été être",
    ),
    "ru": _gather(
        "а без более бы был была были было быть в вам вас весь во вот все всего вы где да для до его ее",  # noqa: RUF001 - Russian words
        "ей если есть еще же за и из или им их к как какая какие какой какое какого каком когда кого",
        "который кто куда ли между меня мне много мы на над не него нее нет ни них но о об он она они оно",  # noqa: RUF001 - Russian words
        "от откуда по под после почему при про с свой свою себя сколько со так также там то того тоже",  # noqa: RUF001 - Russian words
        "только том ты у уже чего чем что чтобы чья эта эти это этого этой этом этот я",  # noqa: RUF001 - Russian words
    ),
}
"""Lower case, as they stand in text. Cyrillic and Latin look-alikes are never mixed inside one list."""

FUNCTION_CHARACTERS = frozenset("的了是在和有与为之中个这那吗呢什么哪谁何时几のはがをにでとも")
"""Chinese and Japanese characters whose pairs carry no subject."""
