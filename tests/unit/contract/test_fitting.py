"""The short answer to whether a document fits is the full validator's."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from runs.contract.canonical import canonical_bytes
from runs.contract.fitting import fits_of
from runs.contract.results import DECISION_FORM, FULL_FORM
from runs.contract.spec import SPEC_SCHEMA
from runs.contract.wire import ANSWERS, REQUESTS

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-2, 3) | st.sampled_from([0.0, 1.0, 1.5, -0.5])
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.sampled_from(["", "a", "ab", "b\n", "ä"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["object", "array", "string", "boolean", "null", "number", "integer"])
LENGTHS = st.integers(0, 3)
FLAT = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(st.sampled_from(["a", "ab", True, False]), min_size=1, max_size=3, unique_by=repr),
        "const": st.sampled_from(["a", "", True, False]),
        "pattern": st.sampled_from(["^a", "b$", "[ab]{2}"]),
        "minLength": LENGTHS,
        "maxLength": LENGTHS,
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "minItems": LENGTHS,
        "maxItems": LENGTHS,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "title": st.just("named"),
    },
)


def deeper(inner):
    some = st.lists(inner, min_size=1, max_size=2)
    parts = {
        "items": inner,
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "additionalProperties": inner,
        "anyOf": some,
        "allOf": some,
        "if": inner,
        "then": inner,
    }
    return st.tuples(FLAT, st.fixed_dictionaries({}, optional=parts)).map(lambda pair: pair[0] | pair[1])


SCHEMAS = st.recursive(FLAT | st.booleans(), deeper, max_leaves=6)


@given(SCHEMAS.filter(lambda schema: isinstance(schema, dict)), DOCUMENTS)
@example({"type": "integer"}, True)
@example({"type": "integer"}, 1.0)
@example({"const": True}, 1)
@example({"minimum": 2}, True)
def test_what_fits_is_what_the_full_validator_lets_pass(schema, document):
    fits = fits_of(schema)
    assert fits is not None
    assert fits(document) == Draft202012Validator(schema).is_valid(document)


@pytest.mark.parametrize(
    "schema", [*REQUESTS.values(), *ANSWERS.values(), SPEC_SCHEMA, DECISION_FORM, FULL_FORM], ids=lambda _: "form"
)
def test_every_form_of_the_protocol_has_a_short_answer(schema):
    assert fits_of(json.loads(canonical_bytes(schema))) is not None


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#/$defs/x"}, {"items": {"uniqueItems": True}}, {"enum": [1]}, {"type": "date"}, {"pattern": "("}],
    ids=["reference", "inside", "number", "type", "pattern"],
)
def test_a_schema_that_says_anything_else_has_none(schema):
    assert fits_of(schema) is None
