import pytest
from hypothesis import given
from hypothesis import strategies as st

from merging.decisions.protocol import DeclaredCheck, Protocol, protocol_block, protocol_checked, protocol_read

WHOLE = """{
  // what must be green
  "requiredChecks": ["test", {"name": "lint", "acceptedConclusions": ["success", "Skipped"]}],
  "waitForChecks": true,
  "freshHeadRun": "Ready-or-Reopen",
  "land": {"method": "gh-merge", "comment": "@mergifyio queue // not a comment", "mergeMethod": "rebase"},
  "trialCommand": ["make", "test"],
  "autoMerge": false,
  "doc": "https://example.org/how" // a link
}"""


def test_every_field_is_read_and_survives_its_storing():
    read = protocol_read(WHOLE)
    assert read.protocol == Protocol(
        required_checks=(DeclaredCheck("test"), DeclaredCheck("lint", frozenset({"success", "skipped"}))),
        wait_for_checks=True,
        fresh_head_run="ready_or_reopen",
        land_method="gh_merge",
        land_comment="@mergifyio queue // not a comment",
        merge_method="rebase",
        trial_command=("make", "test"),
        auto_merge=False,
        doc="https://example.org/how",
    )
    assert read.warnings == ()
    assert protocol_checked(read.protocol.as_json()).protocol == read.protocol
    assert protocol_checked(Protocol().as_json()).protocol == Protocol()


def test_an_empty_object_is_the_defaults():
    assert protocol_read("{}").protocol == Protocol()


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{", "not JSON"),
        ("[]", "one object"),
        ('{"requiredChecks": "test"}', "requiredChecks"),
        ('{"requiredChecks": [{"acceptedConclusions": ["success"]}]}', "requiredChecks[0]"),
        ('{"requiredChecks": [" "]}', "requiredChecks[0]"),
        ('{"requiredChecks": [{"name": "a", "acceptedConclusions": []}]}', "acceptedConclusions"),
        ('{"requiredChecks": [{"name": "a", "acceptedConclusions": [1]}]}', "acceptedConclusions"),
        ('{"waitForChecks": "yes"}', "waitForChecks"),
        ('{"freshHeadRun": "always"}', "freshHeadRun"),
        ('{"freshHeadRun": true}', "freshHeadRun"),
        ('{"land": "admin"}', "land"),
        ('{"land": {"method": "push"}}', "land.method"),
        ('{"land": {"comment": ""}}', "land.comment"),
        ('{"land": {"mergeMethod": "fast-forward"}}', "land.mergeMethod"),
        ('{"trialCommand": "make test"}', "trialCommand"),
        ('{"autoMerge": null}', "autoMerge"),
        ('{"doc": 1}', "doc"),
    ],
)
def test_a_wrong_value_of_a_known_field_is_named_and_makes_it_invalid(text, field):
    read = protocol_read(text)
    assert read.protocol is None
    assert field in read.error


def test_unknown_fields_warn():
    read = protocol_read('{"colour": "red", "land": {"speed": 1}}')
    assert read.protocol == Protocol()
    assert read.warnings == ("unknown field colour", "unknown field land.speed")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("# Agents\n\n```merge-protocol\n{}\n```\n", "{}\n"),
        ("~~~~ merge-protocol\n```\n{}\n~~~~\n", "```\n{}\n"),
        ("```merge-protocol\r\n{}\r\n```\r\n", "{}\n"),
        ("```json\n{}\n```\n", None),
        ("```merge-protocol-old\n{}\n```\n", None),
        ("```merge-protocol\n{}", None),
        ("```merge-protocol\n1\n```\n```merge-protocol\n2\n```\n", "1\n"),
        ("", None),
    ],
)
def test_the_first_fenced_block_of_that_name_is_the_declaration(text, inside):
    assert protocol_block(text) == inside


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text):
    read = protocol_read(text)
    assert (read.protocol is None) == bool(read.error)
    protocol_block(text)
