"""Words after which a full stop is no end, or seldom one, and words that begin sentences."""

from __future__ import annotations


def _gather(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


NEVER_LAST = _gather(
    # titles and what stands before a name or a number: something always follows
    "mr mrs ms dr prof rev hon gen col maj capt lt sgt cmdr adm gov sen rep pres messrs mt st ste asst est",
    "vs cf approx ca fig figs eq eqs vol nos pp ed eds chap sec dept univ viz resp incl excl",
    "e.g i.e p.ex z.b d.h u.a o.g c.f",
    "bzw vgl evtl ggf bspw geb gest str hr fr nr abs art bd hrsg inkl zzgl sog",
    "sr sra srta sres dra ud uds pág págs núm aprox mme mlle mgr",
    "т.е т.к т.н т.п см рис стр им ул гл ред проф акад тов",  # noqa: RUF001 - Russian words
)
"""Lower case, without the last stop."""

SELDOM_LAST = _gather(
    "etc inc ltd co corp bros jr esq al no ave blvd rd ph.d m.d b.a m.a u.s u.k u.n e.u d.c a.m p.m b.c a.d",
    "jan feb mar apr jun jul aug sep sept oct nov dec",
    "usw chr jh mio mrd tsd mär okt dez ee.uu j.-c av",
    "др тыс млн млрд руб кг км гг вв н.э",  # noqa: RUF001 - Russian words
)
"""These end a sentence only where a word follows that begins sentences."""

ORDINAL_LEADS = _gather(
    "am vom zum der dem den des die das im ab bis seit zur und jeden ihr sein ihrem seinem dieser diesem"
)
"""Words before a German ordinal: `am 5. Mai`, `im 2. Jahrhundert`."""

LABELS = _gather(
    "fact vitamin hepatitis group class plan option appendix section figure table type part level grade",
    "point team phase step building exhibit schedule annex model category case item variant version note",
    "rule product company country person city side column row unit terminal gate zone series",
    "gruppe klasse teil typ anhang abschnitt punkt grupo clase parte tipo groupe classe partie",
)
"""Words that a single letter names (`Fact B.`): that letter is no initial."""

STARTERS = _gather(
    "the this that these those there then they their he his him she her it its we our you your i my a an in",
    "on at as by for from to with of and but or so if when while where who what why how which after before",
    "during since until although though because however also both each some many most all no not one two",
    "another other such under over between among through according first later today now",
    "der die das den dem ein eine einer eines er sie es wir ihr ich im am auf aus bei mit nach von vom zu",
    "zum und aber oder wenn als da dies diese dieser dieses seine ihre doch auch nur für seit während",
    "el la los las un una unos unas en de del al por para con sin su sus él ella ellos esta este estos y",
    "pero",
    "le les une des du et ou mais il elle ils elles nous vous je ce cette ces dans sur sous pour avec sans",
    "par son sa ses leur leurs au aux après avant depuis",
    "он она оно они мы вы я это эта этот эти в во на по с со из за к но и а или если когда",  # noqa: RUF001 - Russian words
    "также после до для",
)
"""Function words that, written with a capital, begin a sentence."""
