import pytest

from builders.envelopes import wrap, wrap_json
from ragsonde.decoding.table import DEFAULT_FORMATS, BinaryFormat, JsonFormat, decode
from ragsonde_schemas.decoded import Decoded, ForeignDocument
from ragsonde_schemas.errors import ConfigError, DecodeError, ParkReason

TYPE = "application/vnd.acme"


def decode_acme(document, _limits):
    return Decoded(format="acme", records=(ForeignDocument(format="acme", document=document.value),))


def decode_acme_bytes(_body, _limits):
    return Decoded(format="acme_bytes")


ACME = JsonFormat("acme", frozenset({TYPE}), lambda value: "acme" in value, decode_acme)
ACME_BYTES = BinaryFormat(
    "acme_bytes", frozenset(), lambda body: body.startswith(b"\nACME"), decode_acme_bytes
)


def test_formats_of_others_are_tried_before_ours():
    formats = DEFAULT_FORMATS.extended([ACME, ACME_BYTES])
    value = {"trace_id": "t", "contexts": [], "acme": 1}
    assert decode(wrap_json(value)).format == "native"
    assert decode(wrap_json(value), formats=formats).format == "acme"
    assert decode(wrap(b"\nACME"), formats=formats).format == "acme_bytes"
    assert decode(wrap_json({"x": 1}, content_type=TYPE), formats=formats).format == "acme"
    assert decode(wrap_json([value, value]), formats=formats).format == "acme"
    assert {"acme", "acme_bytes"} <= set(formats.names)
    assert formats.json[1:] == DEFAULT_FORMATS.json
    assert "acme" not in DEFAULT_FORMATS.names


def test_nothing_added_changes_nothing():
    assert DEFAULT_FORMATS.extended(()) == DEFAULT_FORMATS


@pytest.mark.parametrize(
    ("others", "problems"),
    [
        (
            [ACME._replace(name="native")],
            ["format native: found twice, by ragsonde.decoding.native.decode_native"],
        ),
        ([ACME, ACME_BYTES._replace(name="acme")], ["format acme: found twice, by "]),
        (
            [ACME._replace(content_types=frozenset({"application/x-protobuf"}))],
            ["content type application/x-protobuf: found twice, by ragsonde.decoding.otlp_protobuf."],
        ),
        ([ACME._replace(name="mixed")], ["format mixed: the name is taken"]),
        (
            [ACME._replace(name="native"), ACME._replace(name="otlp_json", content_types=frozenset())],
            ["format native: ", "format otlp_json: "],
        ),
    ],
)
def test_a_clash_names_both(others, problems):
    with pytest.raises(ConfigError) as caught:
        DEFAULT_FORMATS.extended(others)
    assert len(problems) == len(caught.value.problems)
    for problem, found in zip(problems, caught.value.problems, strict=True):
        assert found.startswith(problem)
        assert found.endswith("; rename or uninstall one of them")
    assert "decode_acme" in str(caught.value) or "mixed" in str(caught.value)


def test_a_recogniser_of_others_that_raises_recognises_nothing():
    formats = DEFAULT_FORMATS.extended([ACME._replace(recognises=lambda value: value["no such key"])])
    assert decode(wrap_json({"trace_id": "t"}), formats=formats).format == "native"


@pytest.mark.parametrize(
    ("broken", "found"),
    [
        (lambda document, _: document.value["no such key"], "raised KeyError"),
        (lambda _, __: "x", "returned a str, expected Decoded"),
    ],
)
def test_a_decoder_of_others_that_fails_refuses_the_message(broken, found):
    formats = DEFAULT_FORMATS.extended([ACME._replace(decode=broken)])
    with pytest.raises(DecodeError) as caught:
        decode(wrap_json({"acme": 1}), formats=formats)
    assert caught.value.reason is ParkReason.INTERNAL_ERROR
    assert f"the decoder of format acme {found}" in str(caught.value)


def test_a_decoder_of_others_may_refuse():
    def refuse(_document, _limits):
        raise DecodeError(ParkReason.OVER_LIMIT, "too much", where="acme")

    with pytest.raises(DecodeError, match=r"^acme: too much$"):
        decode(wrap_json({"acme": 1}), formats=DEFAULT_FORMATS.extended([ACME._replace(decode=refuse)]))
