import pytest

from ragsonde.judging.lexical.abstention import is_abstention

ABSTAINING = [
    "I don't know.",
    "I don\u2019t know the answer to that question.",
    "I'm sorry, but I cannot answer this based on the provided context.",
    "I could not find any information about this.",
    "The provided context does not mention the price.",
    "The documents do not contain information on that topic.",
    "There is no information about the author.",
    "This is not mentioned in the given context.",
    "Unfortunately, I don't have enough information to answer.",
    "Insufficient information",
    "It cannot be determined from the text.",
    "Unknown",
    "Das weiß ich leider nicht.",
    "Dazu kann ich leider keine Informationen finden.",
    "Im Kontext wird der Preis nicht erwähnt.",
    "No lo sé.",
    "No tengo información suficiente para responder.",
    "El contexto no menciona eso; no puedo responder.",
    "Je ne sais pas.",
    "Le contexte ne contient pas cette information.",
    "Я не знаю.",
    "Нет информации по этому вопросу.",
    "我不知道。",
    "根据提供的内容无法回答该问题。",
    "わかりません。",
    "모르겠습니다.",
    "لا أعرف الإجابة.",
    "मुझे नहीं पता।",
    "ไม่ทราบครับ",
]
ANSWERING = [
    "",
    "The tower was completed in 1889.",
    "We do not provide refunds after 30 days.",
    "Shipping is not included in the price.",
    "Our rooms cannot be cancelled within 24 hours.",
    "The product does not contain gluten.",
    "No, pets are not allowed.",
    "No data is lost when you restart.",
    "Press the button; if the device is not found, restart it.",
    "Die Mehrwertsteuer ist nicht enthalten.",
    "El precio no incluye el desayuno.",
    "Le produit ne contient pas de gluten.",
    "Товар не содержит глютена.",
    "酒店没有提供早餐。",
    "غير مسموح بالتدخين.",
]


@pytest.mark.parametrize("answer", ABSTAINING)
def test_an_answer_that_declines_abstains(answer):
    assert is_abstention(answer)


@pytest.mark.parametrize("answer", ANSWERING)
def test_an_answer_that_refuses_or_denies_something_answers(answer):
    assert not is_abstention(answer)


def test_an_answer_that_goes_on_at_length_answers():
    assert not is_abstention("I do not know everything, but " + "here is a long account of it. " * 30)
