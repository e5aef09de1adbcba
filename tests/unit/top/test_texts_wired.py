"""`store_text` reaches whoever stores or judges."""

import pytest

from fakes.evaluations import make_trace
from ragsonde.bootstrap.worker import build_worker
from ragsonde.redaction.wordless import WordlessJudge
from ragsonde.scoring.outcomes import needed_aspects
from ragsonde.settings import read_settings
from ragsonde.storage.text_keeping import StoredTexts


@pytest.mark.parametrize("keep", list(StoredTexts))
def test_store_and_judges_know_whose_texts_stay(keep):
    stages = build_worker(
        read_settings(environ={"RAGSONDE_STORE_TEXT": keep.value}),
        broker_url="amqp://127.0.0.1/",
        database_url="postgresql://127.0.0.1/none",
        version="0",
    ).stages
    is_wordless = keep is StoredTexts.NONE
    assert stages.traces._texts.keep is keep
    judge = stages.assignments["lexical"].judge
    assert isinstance(judge, WordlessJudge) is is_wordless
    trace = make_trace(answer="On Mount Nebelhorn.")
    said = judge.assess(trace, needed_aspects(stages.scorers, trace)).model_dump_json()
    assert ("nebelhorn" in said.casefold()) is not is_wordless
